/* The barriers of a block. They expect only threads that have not ended, as on GPUs since Volta. */
#include "vgpu/exec/clusters.h"
#include "vgpu/exec/control_flow.h"
#include "vgpu/exec/distributed.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/fragments.h"
#include "vgpu/exec/read_only_intervals.h"
#include "vgpu/exec/workers.h"

static void write_reduction(const struct vg_fragment *f, const struct vg_barrier *b)
{
    const struct ir_insn *in = f->pc;
    if (in->op != IR_BAR_RED)
        return;
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t *d = (uint32_t *)(void *)(f->frame->regs + in->d);
        if (in->sub == SUB_POPC)
            d[__builtin_ctz(left)] = b->red_count;
        else if (in->sub == SUB_AND ? b->red_all : b->red_any)
            *d |= left & -left;
        else
            *d &= ~(left & -left);
    }
}

/* Keeps the first barrier that these threads did not reach. */
static void note_absent(struct vg_block *block, uint32_t threads, const struct ir_insn *barrier)
{
    if (threads != block->absent)
        block->absent_at = barrier;
    block->absent = threads;
}

static void note_left(struct vg_block *block)
{
    struct vg_left *left = &block->worker->left;
    if (block->absent && (!left->barrier || block->number < left->block))
        *left = (struct vg_left){block->absent_at, block->number, block->absent};
}

static void wake(struct vg_block *block, int barrier)
{
    struct vg_barrier *b = &block->barriers[barrier];
    bool read_only = !b->expected && !b->passed;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct vg_warp *w = &block->warps[i];
        for (int k = 0; k < w->fragment_count; k++) {
            struct vg_fragment *f = &w->fragments[k];
            if (f->state != FRAGMENT_BARRIER || f->barrier != barrier)
                continue;
            if (!b->expected) {
                note_absent(block, block->launch->threads - b->arrived, f->pc);
                note_left(block);
            }
            read_only &= f->pc->read_only;
            write_reduction(f, b);
            f->state = FRAGMENT_READY;
            f->pc++;
        }
        if (w->fragment_count > 1) /* lanes may have diverged while they waited */
            vg_fragments_join(w);
    }
    *b = (struct vg_barrier){.red_all = 1};
    block->awaited &= ~(1u << barrier);
    race_barrier(&block->race);
    vg_interval_begin(block, read_only);
    block->worker->barriers++;
    vg_progressed(block->worker);
}

static void check_barrier(struct vg_block *block, int i)
{
    struct vg_barrier *b = &block->barriers[i];
    uint32_t expected = b->expected ? b->expected : block->alive_threads;
    if (b->arrived && b->arrived >= expected)
        wake(block, i);
}

void vg_block_lanes_ended(struct vg_block *block)
{
    for (uint32_t left = block->awaited; left; left &= left - 1)
        check_barrier(block, __builtin_ctz(left));
    if (!block->alive_threads)
        distributed_block_ended(block);
    vg_cluster_barrier_check(block->cluster);
}

const struct ir_insn *vg_barrier(struct vg_warp *w, const struct ir_insn *in)
{
    int lane = __builtin_ctz(w->mask);
    uint32_t id = ((uint32_t *)(void *)(w->regs + in->a))[lane];
    uint32_t threads = in->b ? ((uint32_t *)(void *)(w->regs + in->b))[lane] : 0;
    if (id >= VG_BARRIERS) {
        vg_find(w, in, VG_FAULT_TRAP, lane, id, 0, false,
                "barrier %u does not exist: a block has the barriers 0 to 15", id);
        return NULL;
    }
    struct vg_barrier *b = &w->block->barriers[id];
    uint32_t count = (uint32_t)__builtin_popcount(w->mask);
    /* At a barrier with a thread count, a partial warp counts as a full one. */
    if (threads && w->mask == w->alive)
        count = VG_LANES;
    b->arrived += count;
    w->block->awaited |= 1u << id;
    b->expected = threads;
    b->passed |= (in->mode & MODE_ARRIVE) != 0;
    if (in->op == IR_BAR_RED) {
        uint32_t p = *(uint32_t *)(void *)(w->regs + in->c);
        b->red_count += (uint32_t)__builtin_popcount(p & w->mask);
        b->red_any |= (p & w->mask) != 0;
        b->red_all &= (p & w->mask) == w->mask;
    }
    struct vg_fragment *f = NULL;
    if (!(in->mode & MODE_ARRIVE)) {
        f = &w->fragments[w->fragment_count++];
        *f = (struct vg_fragment){.pc = in,
                                  .frame = w->frame,
                                  .mask = w->mask,
                                  .meeting = w->meeting,
                                  .state = FRAGMENT_BARRIER,
                                  .barrier = (uint8_t)id};
    }
    check_barrier(w->block, (int)id);
    return f ? NULL : in + 1;
}
