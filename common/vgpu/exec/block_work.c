/* 1. A block's work is the number of instructions that its warps issue, computed from the
 *    executions of basic blocks.
 * 2. Blocks that read results of each other's atomics get equal shares of their common work. Their
 *    real shares may depend on the order of the blocks, as with a queue of work, but the launch's
 *    time must not. Whether a block reads such results does not depend on the order. No share is
 *    smaller than the work that a block did between two such atomics: a queue cannot divide it.
 * 3. The first blocks go to the multiprocessors in turn, until these are full; each further block
 *    goes to the multiprocessor with the least work, where a slot becomes free first.
 * 4. The results are the share of the multiprocessor with the most work, and of the largest
 *    block. */
#include "vgpu/exec/block_work.h"

#include "vgpu/exec/vg_block.h"
#include "vgpu/exec/vg_launch.h"
#include "vgpu/exec/workers.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdlib.h>

enum { BLOCKS_MAX = 1 << 20 };

/* Flag in a basic block's cost: it has an atomic whose result depends on other blocks and
 * matters. */
#define ASKS_OTHERS 0x80000000u

/* ---- atomics whose results matter ------------------------------------------------------------ */

/* Finds the frame offsets of the results of an atomic instruction on global memory. @return their
 * number */
static size_t find_results(const struct ir_function *f, const struct ir_insn *in, uint32_t *to)
{
    size_t n = 0;
    if (in->space == PTX_SPACE_SHARED)
        return 0;
    if ((in->op == IR_ATOM || in->op == IR_ATOM_128) && in->d)
        to[n++] = in->d;
    for (uint32_t i = in->vector; in->op == IR_ATOM_VECTOR && i < in->extras; i++)
        if (f->extra[in->extra + i])
            to[n++] = f->extra[in->extra + i];
    return n;
}

/* Marks the slots whose values matter: they decide a branch, a guard, an address, or what is stored
 * (the value may be loaded again). An operand matters if its result does.
 * @return whether new slots were marked */
static bool spread(const struct ptx_flow *flow, const struct ir_insn *in, bool *decides)
{
    struct ptx_operands o;
    ptx_flow_sources(flow, in, &o);
    bool all = !ptx_flow_computes(in), more = false;
    for (int i = 0; i < o.write_count && !all; i++)
        all = decides[o.writes[i]];
    for (int i = 0; i < o.read_count; i++) {
        const uint32_t slot = o.reads[i];
        const bool is_guard = in->guard && flow->function->slots[slot].offset == in->guard;
        more |= (all || is_guard) && !decides[slot];
        decides[slot] |= all || is_guard;
    }
    return more;
}

/* @return [slots] whether each slot of a function matters; NULL: out of memory. */
static bool *find_deciding(const struct ptx_flow *flow)
{
    const struct ir_function *f = flow->function;
    bool *decides = calloc(f->slot_count + 1, sizeof *decides);
    for (bool more = decides; more;) {
        more = false;
        for (size_t i = f->insn_count; i-- > 0;)
            more |= spread(flow, &f->insns[i], decides);
    }
    return decides;
}

/* Marks a function's basic blocks that contain an atomic whose result matters. */
static void mark_asking(struct vg_module *m, const struct ir_function *f)
{
    struct ptx_flow *flow = NULL;
    bool *decides = NULL;
    for (size_t i = 0; i < f->insn_count; i++) {
        uint32_t at[PTX_OPERANDS];
        size_t n = find_results(f, &f->insns[i], at);
        if (n && !flow) {
            flow = ptx_flow_new(f);
            decides = flow ? find_deciding(flow) : NULL;
        }
        for (; n-- > 0;)
            if (!decides || decides[flow->slot_of[at[n] / 4] - 1])
                m->block_cost[m->block_of[f->first_insn + i]] |= ASKS_OTHERS;
    }
    free(decides);
    ptx_flow_free(flow);
}

static void find_costs(struct vg_module *m)
{
    if (!m->callable)
        m->callable = calloc(m->ir.function_count + 1, sizeof *m->callable);
    m->block_cost = m->callable ? calloc(m->block_count + 1, sizeof *m->block_cost) : NULL;
    for (size_t k = 0; m->block_cost && k < m->ir.function_count; k++) {
        const struct ir_function *f = &m->ir.functions[k];
        if (!f->is_entry && f->insn_count)
            m->callable[m->callable_count++] = (uint32_t)k;
        for (size_t i = 0; i < f->insn_count; i++)
            m->block_cost[m->block_of[f->first_insn + i]]++;
        mark_asking(m, f);
    }
}

/* ---- while blocks run --------------------------------------------------------------------------- */

void block_work_start(struct vg_launch *l)
{
    struct vg_module *m = l->module;
    l->work = NULL;
    if (!m->block_cost)
        find_costs(m);
    if (m->block_cost && l->blocks > 1 && l->blocks <= BLOCKS_MAX)
        l->work = calloc(l->blocks, sizeof *l->work);
    for (int i = 0; i < l->device->worker_count; i++)
        l->device->workers[i].worked = l->device->workers[i].asked = 0;
}

/* Adds the instructions that a worker has issued in a function, and counts those that ask
 * others. */
static void add_function(const struct vg_worker *w, const struct vg_module *m,
                         const struct ir_function *f, uint64_t *issued, uint64_t *asked)
{
    const uint32_t first = m->block_of[f->first_insn];
    for (uint32_t i = first; i < first + f->block_count; i++) {
        const uint32_t cost = m->block_cost[i];
        *issued += (cost & ~ASKS_OTHERS) * w->block_warps[i];
        *asked += cost & ASKS_OTHERS ? w->block_warps[i] : 0;
    }
}

/* step 1 above */
void block_work_add(struct vg_worker *w, const struct vg_block *b)
{
    const struct vg_launch *l = b->launch;
    const struct vg_module *m = l->module;
    uint64_t sum = 0, asked = 0;
    if (!l->work)
        return;
    add_function(w, m, l->kernel->function, &sum, &asked);
    for (uint32_t k = 0; k < m->callable_count; k++)
        add_function(w, m, &m->ir.functions[m->callable[k]], &sum, &asked);
    const struct vg_dim g = l->grid;
    struct vg_block_work *to = &l->work[b->id[0] + g.x * (b->id[1] + (uint64_t)g.y * b->id[2])];
    to->issued += sum - w->worked;
    to->asks += asked - w->asked;
    w->worked = sum;
    w->asked = asked;
}

/* ---- afterwards --------------------------------------------------------------------------------- */

/* step 2 above. The last atomic of a block usually finds that no work is left. A share is at least
 * EVEN times smaller than an indivisible part before that part counts, since parts that are only a
 * little larger than the shares depend on the order. @return whether blocks have different work */
static bool share_work(struct vg_launch *l)
{
    enum { EVEN = 8 };
    uint64_t sum = 0, asking = 0, part = 0, nth = 0;
    for (uint64_t i = 0; i < l->blocks; i++) {
        const struct vg_block_work *b = &l->work[i];
        const uint64_t parts = b->asks > 1 ? b->asks - 1 : 1;
        sum += b->asks ? b->issued : 0;
        asking += b->asks > 0;
        part = b->asks && b->issued / parts > part ? b->issued / parts : part;
    }
    const bool divides = asking == 0 || part <= EVEN * (sum / asking);
    const uint64_t shares = divides ? asking : (sum + part / 2) / part;
    for (uint64_t i = 0; i < l->blocks; i++)
        if (l->work[i].asks)
            l->work[i].issued = nth++ < shares ? sum / shares : 0;
    return asking < l->blocks || !divides;
}

/* Restores the heap, whose first element is the multiprocessor with the least work. */
static void sift_down(uint64_t *heap, size_t n)
{
    const uint64_t value = heap[0];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && heap[child + 1] < heap[child];
        if (heap[child] >= value)
            break;
        heap[at] = heap[child];
    }
    heap[at] = value;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* @return the multiprocessor of one of the first blocks. After every two rounds over all
 * multiprocessors the start moves by two: as %smid shows, the order on an H200 shifts like this,
 * though less regularly, so that every 132nd block does not always run on the same
 * multiprocessor. */
static size_t first_place(uint64_t block, size_t chips)
{
    return (size_t)((block + 2 * (block / chips / 2)) % chips);
}

/* step 3 above */
static uint64_t busiest(const struct vg_launch *l, size_t chips, int resident)
{
    uint64_t most = 0, *done = calloc(chips, sizeof *done);
    uint64_t first = (uint64_t)chips * (unsigned)resident, i = 0;
    for (; done && i < l->blocks && i < first; i++)
        done[first_place(i, chips)] += l->work[i].issued;
    if (done) /* a sorted array is also a heap */
        qsort(done, chips, sizeof *done, ascending);
    for (; done && i < l->blocks; i++) {
        done[0] += l->work[i].issued;
        sift_down(done, chips);
    }
    for (size_t k = 0; done && k < chips; k++)
        most = done[k] > most ? done[k] : most;
    free(done);
    return most;
}

/* step 4 above */
void block_work_end(struct vg_launch *l, int resident, struct vg_clock_facts *facts)
{
    const int chips = l->device->profile.multiprocessors;
    uint64_t all = 0, largest = 0;
    const bool differ = l->work && share_work(l);
    for (uint64_t i = 0; differ && i < l->blocks; i++) {
        all += l->work[i].issued;
        largest = l->work[i].issued > largest ? l->work[i].issued : largest;
    }
    if (all && chips > 0) {
        facts->busiest_share = (double)busiest(l, (size_t)chips, resident) / (double)all;
        facts->largest_share = (double)largest / (double)all;
    }
    free(l->work);
    l->work = NULL;
}
