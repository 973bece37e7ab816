/* In each basic block, an instruction starts when its sources are ready, and not before the warp
 * has issued the instructions before it; its result is ready a latency later. The block ends with
 * its last result. */
#include "vgpu/exec/critical_path.h"

#include "vgpu/exec/vg_module.h"

#include <math.h>
#include <stdlib.h>

/* A warp alone does not issue an instruction in each clock. Measured on an H200: multiply-adds, and
 * the mean of other instructions of the references (docs/results/h200). */
#define ARITHMETIC_ISSUE_CLOCKS 1.25
#define OTHER_ISSUE_CLOCKS      2

enum { BRANCH_CLOCKS = 14, BARRIER_CLOCKS = 20, SLOT_BYTES = 4, PREDICATED_MOST = 12 };

/* The time at which a slot of the frame is ready; values from earlier basic blocks are ready at
 * once. */
struct ready {
    uint32_t block;
    float clock;
};

struct walk {
    struct ready *slots;
    uint32_t slot_count, block;
    double issued;   /* clocks to issue all instructions so far */
    double fence[2]; /* loads start after this time; [1]: those of shared memory */
    double last;     /* time of the latest result so far */
};

static double ready_at(const struct walk *w, uint32_t offset)
{
    const uint32_t i = offset / SLOT_BYTES;
    return i && i < w->slot_count && w->slots[i].block == w->block ? (double)w->slots[i].clock : 0;
}

static void set_ready(struct walk *w, uint32_t offset, double clock)
{
    const uint32_t i = offset / SLOT_BYTES;
    if (i && i < w->slot_count)
        w->slots[i] = (struct ready){w->block, (float)clock};
    w->last = fmax(w->last, clock);
}

static double latency_of(const struct ir_insn *in, const struct path_latencies *l)
{
    const int slots = ir_rows[in->op].slots;
    switch (ir_rows[in->op].class) {
    case IR_CLASS_MOVE:
        return 0;
    case IR_CLASS_GLOBAL:
        return in->op == IR_ST                 ? l->alu
               : in->space == PTX_SPACE_SHARED ? l->shared
               : in->space == PTX_SPACE_CONST  ? l->alu
               : in->space == PTX_SPACE_PARAM  ? l->alu
               : in->op == IR_CP_ASYNC         ? l->alu
                                               : l->loads[in->site];
    case IR_CLASS_SHARED:
    case IR_CLASS_EXCHANGE:
        return l->shared;
    case IR_CLASS_ATOMIC:
        return in->d == 0 ? l->alu : in->space == PTX_SPACE_SHARED ? 3 * l->shared : l->atomic;
    case IR_CLASS_SYNC:
        return BARRIER_CLOCKS;
    case IR_CLASS_SPECIAL:
    case IR_CLASS_CONVERT:
    case IR_CLASS_TENSOR:
        return 5 * l->alu;
    case IR_CLASS_FP64:
        return 2 * l->alu * (slots > 4 ? slots : 1);
    default:
        return l->alu * (slots > 4 ? slots : 1);
    }
}

static double issue_clocks(enum ir_class class, int slots)
{
    if (class == IR_CLASS_MOVE)
        return 0;
    if (class == IR_CLASS_FP32 || class == IR_CLASS_FP16)
        return ARITHMETIC_ISSUE_CLOCKS * slots;
    return OTHER_ISSUE_CLOCKS * slots;
}

static void step(struct walk *w, const struct ir_function *f, const struct ir_insn *in,
                 const struct path_latencies *l)
{
    const int slots = ir_rows[in->op].slots;
    if (!slots)
        return;
    /* In a branch, d and e are not slots: they are basic blocks, or 0 where native code may
     * begin. */
    const bool is_branch = in->op == IR_BRA;
    const uint32_t sources[] = {in->a, in->b, in->c, is_branch ? 0 : in->e, in->f, in->guard};
    const bool is_store = in->op == IR_ST, has_list = in->extras && in->vector > 1;
    const enum ir_class class = ir_rows[in->op].class;
    const bool is_memory = in->site && class != IR_CLASS_CONTROL;
    double *const fence = &w->fence[in->space == PTX_SPACE_SHARED];
    double start = fmax(w->issued, is_memory ? *fence : 0);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        start = fmax(start, ready_at(w, sources[i]));
    for (uint32_t i = 0; is_store && has_list && i < in->extras; i++)
        start = fmax(start, ready_at(w, f->extra[in->extra + i]));
    w->issued += issue_clocks(class, slots);
    const double done = start + latency_of(in, l);
    set_ready(w, is_store || is_branch ? 0 : in->d, done);
    for (uint32_t i = 0; !is_store && has_list && i < in->extras; i++)
        set_ready(w, f->extra[in->extra + i], done);
    if (class == IR_CLASS_SYNC)
        w->fence[0] = w->fence[1] = fmax(w->last, done);
    else if (is_store)
        *fence = fmax(*fence, start);
    w->last = fmax(w->last, w->issued);
}

/* ptxas replaces a branch around a few instructions by predicates; then the loads after them need
 * not wait. In such code all paths join again: the basic block after them is executed as often as
 * the one with the branch.
 * @return the instruction where the paths join, or 0 */
static size_t joined_at(const struct vg_module *m, const struct ir_function *f,
                        const struct vg_tally *t, size_t i)
{
    const struct ir_insn *in = &f->insns[i];
    if (in->op != IR_BRA || !in->guard || in->target <= i || in->target > i + PREDICATED_MOST)
        return 0;
    const uint64_t warps = t->block_warps[m->block_of[in->number]];
    if (t->block_warps[m->block_of[f->insns[in->target].number]] != warps)
        return 0;
    for (size_t j = i + 1; j < in->target; j++) {
        const enum ir_class class = ir_rows[f->insns[j].op].class;
        if (class == IR_CLASS_SYNC || f->insns[j].op == IR_BRA || f->insns[j].op == IR_CALL ||
            t->block_warps[m->block_of[f->insns[j].number]] > warps)
            return 0;
    }
    return in->target;
}

static double function_clocks(const struct vg_module *m, const struct ir_function *f,
                              const struct vg_tally *t, const struct path_latencies *l)
{
    struct walk w = {.slot_count = f->frame_bytes / SLOT_BYTES};
    double sum = 0;
    size_t joined = 0; /* basic blocks up to this instruction count as the branch's */
    w.slots = calloc(w.slot_count + 1, sizeof *w.slots);
    for (size_t i = 0; w.slots && i < f->insn_count; i++) {
        const struct ir_insn *in = &f->insns[i];
        const uint32_t block = m->block_of[in->number];
        if ((in->op == IR_ENTER || in->op == IR_ENTER_JOIN) && (!joined || i > joined)) {
            if (w.block)
                sum += (w.last + BRANCH_CLOCKS) * (double)t->block_warps[w.block - 1];
            w.block = block + 1;
            w.issued = w.fence[0] = w.fence[1] = w.last = 0;
        }
        if (t->block_warps[block])
            step(&w, f, in, l);
        const size_t join = joined_at(m, f, t, i);
        joined = join ? join : joined;
    }
    if (w.block && w.slots)
        sum += (w.last + BRANCH_CLOCKS) * (double)t->block_warps[w.block - 1];
    free(w.slots);
    return sum;
}

double path_clocks(const struct vg_kernel *k, const struct vg_tally *t,
                   const struct path_latencies *l)
{
    const struct ir_function *f;
    double sum = 0;
    for (size_t at = 0; (f = vg_code_next(k, &at));)
        sum += function_clocks(k->module, f, t, l);
    return sum;
}
