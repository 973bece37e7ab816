/* Reads of unwritten registers, for instance a sum that is not initialised.
 *
 * nvcc keeps such a read, and on a GPU a register's old contents are arbitrary. Here they are zeros
 * when a block begins, the same in every run. Nothing is recorded while a kernel runs. After a
 * launch, this file searches the executed code:
 *
 *     1. a register that is live where the kernel begins may be read before it is written
 *     2. an arithmetic instruction has read such a register unwritten if no executed write of the
 *        register can precede the instruction's first execution: no write on a path from the
 *        kernel's beginning that avoids the read leads to the read
 *     3. so has one if all executed writes of the register are arithmetic that reads it, too: the
 *        first of them in a thread added to nothing
 *
 * Otherwise, if some executed path to the read writes the register, it is never reported, even if
 * another path does not write it. */
#include "vgpu/exec/unset_registers.h"

#include "vgpu/exec/findings.h"
#include "vgpu/exec/frames.h"
#include "vgpu/exec/vg_launch.h"
#include "vgpu/exec/workers.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdlib.h>
#include <string.h>

struct search {
    struct vg_launch *launch;
    const struct ir_function *f;
    struct ptx_flow *flow;
    uint8_t *seen;   /**< [insn_count] */
    uint32_t *stack; /**< [insn_count] */
    uint32_t *next;  /**< buffer for the instructions that may follow one */
};

/* @return how many threads executed an instruction's basic block. */
static uint64_t threads_of(const struct vg_launch *l, const struct ir_insn *in)
{
    uint64_t threads = 0;
    for (int i = 0; i < l->device->worker_count; i++) {
        const struct vg_worker *w = &l->device->workers[i];
        if (w->used_by == l->number && w->block_threads)
            threads += w->block_threads[l->module->block_of[in->number]];
    }
    return threads;
}

static bool is_number_arithmetic(const struct ir_insn *in)
{
    static const char *const begins[] = {"ADD_F32", "SUB_F32", "MUL_F32", "FMA_F32", "ADD_F64",
                                         "SUB_F64", "MUL_F64", "FMA_F64", "MMA",     "WMMA_MMA"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(ir_rows[in->op].id, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

static bool has(const uint32_t *slots, int n, uint32_t slot)
{
    for (int i = 0; i < n; i++)
        if (slots[i] == slot)
            return true;
    return false;
}

static bool touches(const struct search *s, uint32_t index, uint32_t slot, bool writes)
{
    struct ptx_operands o;
    ptx_flow_operands(s->flow, &s->f->insns[index], &o);
    return writes ? has(o.writes, o.write_count, slot) : has(o.reads, o.read_count, slot);
}

/* Marks the executed instructions that can be reached from those on the stack without passing
 * @p wall. UINT32_MAX: no wall. */
static void reach(struct search *s, size_t n, uint32_t wall)
{
    while (n) {
        const uint32_t at = s->stack[--n];
        if (s->seen[at] || !threads_of(s->launch, &s->f->insns[at]))
            continue;
        s->seen[at] = 1;
        const size_t count = at == wall ? 0 : ptx_flow_next(s->f, at, s->next);
        for (size_t i = 0; i < count; i++)
            if (s->next[i] < s->f->insn_count && !s->seen[s->next[i]])
                s->stack[n++] = s->next[i];
    }
}

/* @return whether a write executed before the first execution of @p read can reach @p read. */
static bool may_be_set(struct search *s, uint32_t read, uint32_t slot)
{
    size_t n = 0;
    memset(s->seen, 0, s->f->insn_count);
    s->stack[0] = 0;
    reach(s, 1, read);
    uint32_t *writes = malloc((s->f->insn_count + 1) * sizeof *writes);
    for (uint32_t i = 0; writes && i < s->f->insn_count; i++)
        if (s->seen[i] && i != read && touches(s, i, slot, true))
            writes[n++] = i;
    memset(s->seen, 0, s->f->insn_count);
    for (size_t i = 0; i < n; i++)
        s->stack[i] = writes[i];
    reach(s, n, UINT32_MAX);
    const bool may = !writes || (n && s->seen[read]);
    free(writes);
    return may;
}

/* @return whether all executed writes of a register add to it, or multiply it. */
static bool is_only_changed(const struct search *s, uint32_t slot)
{
    for (uint32_t i = 0; i < s->f->insn_count; i++)
        if (touches(s, i, slot, true) && threads_of(s->launch, &s->f->insns[i]) &&
            !(is_number_arithmetic(&s->f->insns[i]) && touches(s, i, slot, false)))
            return false;
    return true;
}

/* @return whether a function calls others: the registers that they write are unknown. */
static bool calls(const struct ir_function *f)
{
    for (size_t i = 0; i < f->insn_count; i++)
        if (f->insns[i].op == IR_CALL)
            return true;
    return false;
}

static void list_live(struct vg_kernel *kernel, const struct ptx_flow *flow, uint64_t *live)
{
    const struct ir_function *f = kernel->function;
    ptx_flow_live(flow, 0, live);
    for (uint32_t slot = 0; slot < f->slot_count; slot++)
        if (ptx_set_has(live, slot) && !flow->constant[slot])
            kernel->unset[kernel->unset_count++] = slot;
}

static int by_slot(const void *a, const void *b)
{
    const struct vg_unset_read *x = a, *y = b;
    return x->slot != y->slot ? (x->slot > y->slot) - (x->slot < y->slot)
                              : (x->insn > y->insn) - (x->insn < y->insn);
}

/* Lists arithmetic that reads the live registers. Predicates are smaller than numbers. */
static void list_reads(struct vg_kernel *kernel, const struct ptx_flow *flow, const uint64_t *live)
{
    const struct ir_function *f = kernel->function;
    size_t room = 0;
    for (uint32_t i = 0; i < f->insn_count; i++) {
        struct ptx_operands o;
        if (!is_number_arithmetic(&f->insns[i]))
            continue;
        ptx_flow_operands(flow, &f->insns[i], &o);
        for (int k = 0; k < o.read_count; k++) {
            const uint32_t slot = o.reads[k];
            if (!ptx_set_has(live, slot) || flow->constant[slot] ||
                f->slots[slot].bytes < 4 * VG_LANES)
                continue;
            kernel->unset_reads = ptx_grow(kernel->unset_reads, kernel->unset_read_count, &room,
                                           sizeof *kernel->unset_reads);
            kernel->unset_reads[kernel->unset_read_count++] = (struct vg_unset_read){slot, i};
        }
    }
    if (kernel->unset_read_count)
        qsort(kernel->unset_reads, kernel->unset_read_count, sizeof *kernel->unset_reads, by_slot);
}

void unset_registers_list(struct vg_kernel *kernel)
{
    if (kernel->unset)
        return;
    struct ptx_flow *flow = ptx_flow_new(kernel->function);
    uint64_t *live = flow ? calloc(flow->words + 1, sizeof *live) : NULL;
    kernel->unset = calloc(kernel->function->slot_count + 1, sizeof *kernel->unset);
    if (kernel->unset && live) {
        list_live(kernel, flow, live);
        if (!calls(kernel->function))
            list_reads(kernel, flow, live);
    }
    free(live);
    ptx_flow_free(flow);
}

void unset_registers_clear(const struct vg_kernel *kernel, struct vg_frame *frame)
{
    for (size_t i = 0; i < kernel->unset_count; i++) {
        const struct ir_slot *slot = &kernel->function->slots[kernel->unset[i]];
        memset(frame->regs + slot->offset, 0, slot->bytes);
    }
}

void unset_registers_find(struct vg_launch *l)
{
    const struct vg_kernel *kernel = l->kernel;
    const struct ir_function *f = kernel->function;
    uint32_t reported = UINT32_MAX; /* one finding per variable is enough */
    if (!kernel->unset_read_count)
        return;
    struct search s = {.launch = l, .f = f, .flow = ptx_flow_new(f)};
    s.seen = malloc(f->insn_count + 1);
    s.stack = malloc((4 * f->insn_count + f->extra_count + 4) * sizeof *s.stack);
    s.next = malloc((f->extra_count + 2) * sizeof *s.next);
    const bool ready = s.flow && s.seen && s.stack && s.next;
    for (size_t i = 0; ready && i < kernel->unset_read_count; i++) {
        const struct vg_unset_read *read = &kernel->unset_reads[i];
        const struct ir_insn *in = &f->insns[read->insn];
        const uint64_t threads = read->slot == reported ? 0 : threads_of(l, in);
        if (!threads ||
            (may_be_set(&s, read->insn, read->slot) && !is_only_changed(&s, read->slot)))
            continue;
        vg_find_unset_register(l, in, threads);
        reported = read->slot;
    }
    free(s.seen);
    free(s.stack);
    free(s.next);
    ptx_flow_free(s.flow);
}
