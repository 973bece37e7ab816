/* 1. The work of a block: the instructions that its warps issued, from the counts of basic blocks.
 * 2. The first blocks go to the multiprocessors in turn, until these are full; each further one goes
 *    where least has been done, which is where a place becomes free first.
 * 3. The share of the multiprocessor that got most, and that of the largest block; not in a launch
 *    whose blocks ask each other by atomics: they count as equal. */
#include "vgpu/exec/block_work.h"

#include <stdlib.h>

enum { BLOCKS_MAX = 1 << 20 };

/* Of a basic block's cost: an atomic instruction in it brings back what others have left in memory. So
 * which block does more may depend on who comes first, and the launch's time must not. */
#define ASKS_OTHERS 0x80000000u

static bool asks_others(const struct ir_insn *in)
{
    const bool is_atomic = in->op == IR_ATOM || in->op == IR_ATOM_128 || in->op == IR_ATOM_VECTOR;
    return is_atomic && in->d && in->space != PTX_SPACE_SHARED;
}

static void find_costs(struct vg_module *m)
{
    m->block_cost = calloc(m->block_count + 1, sizeof *m->block_cost);
    for (size_t k = 0; m->block_cost && k < m->ir.function_count; k++) {
        const struct ir_function *f = &m->ir.functions[k];
        for (size_t i = 0; i < f->insn_count; i++) {
            uint32_t *cost = &m->block_cost[m->block_of[f->first_insn + i]];
            *cost = (*cost + 1) | (asks_others(&f->insns[i]) ? ASKS_OTHERS : 0);
        }
    }
}

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

/* 1. */
void block_work_add(struct vg_worker *w, const struct vg_block *b)
{
    const struct vg_launch *l = b->launch;
    const struct vg_module *m = l->module;
    uint64_t sum = 0;
    if (!l->work)
        return;
    for (uint32_t i = 0; i < m->block_count; i++) {
        const uint32_t cost = m->block_cost[i];
        sum += (cost & ~ASKS_OTHERS) * w->block_warps[i];
        w->asked |= cost & ASKS_OTHERS && w->block_warps[i];
    }
    const struct vg_dim g = l->grid;
    l->work[b->id[0] + g.x * (b->id[1] + (uint64_t)g.y * b->id[2])] += sum - w->worked;
    w->worked = sum;
}

/* The multiprocessor that has done least is the first of a heap. */
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

/* Where one of the first blocks goes. Two rounds over all multiprocessors begin two further on than the two
 * before: an H200's order shifts like this, as %smid tells, though less regularly; every 132nd block does
 * not always come to the same one. */
static size_t first_place(uint64_t block, size_t chips)
{
    return (size_t)((block + 2 * (block / chips / 2)) % chips);
}

/* 2. */
static uint64_t busiest(const struct vg_launch *l, size_t chips, int resident)
{
    uint64_t most = 0, *done = calloc(chips, sizeof *done);
    uint64_t first = (uint64_t)chips * (unsigned)resident, i = 0;
    for (; done && i < l->blocks && i < first; i++)
        done[first_place(i, chips)] += l->work[i];
    if (done) /* sorted is a heap, too */
        qsort(done, chips, sizeof *done, ascending);
    for (; done && i < l->blocks; i++) {
        done[0] += l->work[i];
        sift_down(done, chips);
    }
    for (size_t k = 0; done && k < chips; k++)
        most = done[k] > most ? done[k] : most;
    free(done);
    return most;
}

/* 3. */
void block_work_end(struct vg_launch *l, int resident, struct vg_clock_facts *facts)
{
    const int chips = l->device->profile.multiprocessors;
    uint64_t all = 0, largest = 0;
    bool asked = false;
    for (int i = 0; i < l->device->worker_count; i++)
        asked |= l->device->workers[i].asked;
    for (uint64_t i = 0; l->work && i < l->blocks; i++) {
        all += l->work[i];
        largest = l->work[i] > largest ? l->work[i] : largest;
    }
    if (all && chips > 0 && !asked) {
        facts->busiest_share = (double)busiest(l, (size_t)chips, resident) / (double)all;
        facts->largest_share = (double)largest / (double)all;
    }
    free(l->work);
    l->work = NULL;
}
