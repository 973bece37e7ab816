/* A warp: divergent fragments take turns; lanes wait for a mask's other lanes. */
#include "vgpu/exec/control_flow.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/fragments.h"
#include "vgpu/exec/handlers.h"
#include "vgpu/exec/spinning.h"
#include "vgpu/exec/unset_copies.h"
#include "vgpu/exec/workers.h"

#include <string.h>

/* A loop that only looks at the clock waits for a time, or, as the waits of libcu++ do, sleeps
 * longer and longer while it waits for another thread. After this time the latter is assumed. */
#define CLOCK_WAIT_MAX UINT64_C(10000000000)

/* ---- waiting for named lanes ----------------------------------------------------------------- */

static uint32_t lanes_wanted(const struct vg_warp *w, const struct ir_insn *in)
{
    const uint32_t *member = (const uint32_t *)(w->regs + in->f);
    uint32_t wanted = 0;
    if (!in->f) /* a matrix instruction */
        return w->alive;
    if (w->mask == VG_FULL) { /* common; becomes vector instructions */
        for (uint32_t i = 0; i < VG_LANES; i++)
            wanted |= member[i];
        return wanted;
    }
    for (uint32_t i = 0; i < VG_LANES; i++) /* several groups may be here, each with its mask */
        wanted |= member[i] & (0u - (w->mask >> i & 1));
    return wanted;
}

/* @return whether a parked fragment waits at an instruction for lanes of a set. Lanes may have come
 * to it by separate calls of the function: they have separate frames, which a proof does not
 * follow. */
static bool waits_at(const struct vg_warp *w, const struct vg_fragment *f, const struct ir_insn *in,
                     uint32_t lanes)
{
    return f->state == FRAGMENT_SYNC && f->pc == in && f->mask & lanes &&
           (f->frame == w->frame || !w->worker->device->proof);
}

bool vg_gather_complete(const struct vg_warp *w, const struct ir_insn *in, uint32_t *all)
{
    const uint32_t wanted = lanes_wanted(w, in);
    *all = w->mask;
    for (int i = 0; i < w->fragment_count; i++)
        if (waits_at(w, &w->fragments[i], in, wanted))
            *all |= w->fragments[i].mask;
    return !(wanted & w->alive & ~*all) || w->forced == in;
}

/* Exchanges registers of the running frame with those of another frame of the same function. */
static void exchange_lanes(struct vg_warp *w, struct vg_frame *other, uint32_t lanes)
{
    const struct ir_function *f = other->function;
    for (uint32_t i = 0; i < f->slot_count; i++) {
        uint32_t *a = (uint32_t *)(void *)(w->frame->regs + f->slots[i].offset);
        uint32_t *b = (uint32_t *)(void *)(other->regs + f->slots[i].offset);
        const uint32_t words = f->slots[i].bytes / (4 * VG_LANES); /* 0: a predicate */
        const uint32_t different = words ? 0 : (*a ^ *b) & lanes;
        *a ^= different;
        *b ^= different;
        for (uint32_t k = 0; k < words * VG_LANES; k++)
            if (lanes >> k / words & 1) {
                const uint32_t word = a[k];
                a[k] = b[k];
                b[k] = word;
            }
    }
}

/* Before and after the operation: lanes that came by another call use the running frame. */
static void exchange_frames(struct vg_warp *w, const struct ir_insn *in)
{
    const uint32_t others = w->mask & ~w->gather_own;
    for (int i = 0; others && i < w->fragment_count; i++) {
        const struct vg_fragment *f = &w->fragments[i];
        if (f->frame != w->frame && waits_at(w, f, in, others))
            exchange_lanes(w, f->frame, f->mask);
    }
}

bool vg_gather(struct vg_warp *w, const struct ir_insn *in)
{
    uint32_t all;
    if (!vg_gather_complete(w, in, &all)) {
        struct vg_fragment *f = vg_fragment_park(w, in, w->mask, w->meeting, FRAGMENT_SYNC);
        f->wanted = lanes_wanted(w, in);
        return false;
    }
    w->forced = NULL;
    w->gather_own = w->mask;
    w->mask = all;
    exchange_frames(w, in);
    return true;
}

const struct ir_insn *vg_rejoined(struct vg_warp *w, const struct ir_insn *in)
{
    const uint32_t others = w->mask & ~w->gather_own;
    exchange_frames(w, in);
    w->mask = w->gather_own;
    for (int i = 0; others && i < w->fragment_count;) {
        struct vg_fragment *f = &w->fragments[i];
        if (!waits_at(w, f, in, others)) {
            i++;
        } else if (f->frame == w->frame && f->meeting == w->meeting) {
            w->mask |= f->mask;
            vg_fragment_remove(w, i);
        } else {
            f->state = FRAGMENT_READY;
            f->pc = in + 1;
            i++;
        }
    }
    return in + 1;
}

const struct ir_insn *vg_gathered(struct vg_warp *w, const struct ir_insn *in)
{
    w->warp_epoch++;
    if (w->block->warp_count == 1 && w->mask == w->alive)
        race_barrier(&w->block->race);
    return vg_rejoined(w, in);
}

const struct ir_insn *vg_yield(struct vg_warp *w, const struct ir_insn *resume)
{
    vg_fragment_park(w, resume, w->mask, w->meeting, FRAGMENT_READY);
    w->yielded = true;
    return NULL;
}

const struct ir_insn *vg_resume(struct vg_warp *w, const struct ir_insn *in)
{
    w->resume = in;
    return NULL;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static int next_ready(const struct vg_warp *w)
{
    for (int i = 0; i < w->fragment_count; i++)
        if (w->fragments[i].state == FRAGMENT_READY)
            return i;
    return -1;
}

/* Lets lanes that wait at a meeting continue without the others. */
static bool release_meeting(struct vg_warp *w)
{
    for (int i = 0; i < w->meeting_room; i++) {
        struct vg_meeting *m = &w->meetings[i];
        if (!m->used || m->is_call || !m->arrived)
            continue;
        struct vg_fragment f = {.pc = m->pc,
                                .frame = m->frame,
                                .mask = m->arrived,
                                .meeting = m->parent,
                                .state = FRAGMENT_READY};
        m->expected &= ~m->arrived;
        m->arrived = 0;
        w->fragments[w->fragment_count++] = f;
        return true;
    }
    return false;
}

bool vg_warp_unstick(struct vg_warp *w)
{
    for (int i = 0; i < w->fragment_count; i++) {
        struct vg_fragment *f = &w->fragments[i];
        if (f->state != FRAGMENT_SYNC)
            continue;
        uint32_t missing = f->wanted & w->alive & ~f->mask;
        int lane = __builtin_ctz(f->mask);
        bool is_barrier = f->pc->op == IR_BAR_WARP;
        vg_find(w, f->pc, is_barrier ? VG_FAULT_BARRIER_DIVERGENCE : VG_FAULT_UNDEFINED_SHUFFLE,
                lane, 0, 0, false,
                "%s waits for the lanes %08x of its mask, but lanes %08x never arrive",
                is_barrier ? "__syncwarp" : "a warp-wide operation", f->wanted, missing);
        if (w->block->stop)
            return false;
        w->forced = f->pc;
        f->state = FRAGMENT_READY;
        return true;
    }
    return false;
}

void vg_warp_start(struct vg_warp *w, const struct ir_insn *first)
{
    w->fragment_count = 0;
    for (int i = 0; w->meetings_used && i < w->meeting_room; i++) {
        w->meetings_used -= w->meetings[i].used;
        if (w->meetings[i].used && w->meetings[i].is_call)
            vg_frame_free(w->worker, w->meetings[i].callee);
        w->meetings[i].used = false;
    }
    w->forced = NULL;
    w->saved_as = NULL;
    unset_forget(w);
    w->meeting = -1;
    w->frame = w->entry;
    w->warp_epoch = 0;
    w->spins = 0;
    if (w->alive)
        vg_fragment_park(w, first, w->alive, -1, FRAGMENT_READY);
}

static void run_fragment(struct vg_warp *w, const struct ir_insn *in)
{
    const struct vg_handlers *handlers = w->worker->device->handlers;
    for (; in; in = w->resume) {
        w->resume = NULL;
        if ((w->watched || w->copies_unset) && w->saved_as)
            w->worker->settle(w);
        (w->worker->device->proof                     ? handlers->enter_proved
         : w->recorded                                ? handlers->enter_recorded
         : w->sample || w->watched || w->copies_unset ? handlers->enter_sampled
                                                      : handlers->enter)(in, w);
    }
}

bool vg_warp_run(struct vg_warp *w)
{
    int turns = w->fragment_count + 1,
        fragments = w->block->is_beside ? TURN_FRAGMENTS / 4 : TURN_FRAGMENTS;
    bool spun = true;
    for (int i; !w->block->stop && (i = next_ready(w)) >= 0;) {
        struct vg_fragment f = w->fragments[i];
        vg_fragment_remove(w, i);
        vg_fragment_load(w, &f);
        w->yielded = w->looked_at_clock = false;
        w->quantum = f.spins                                    ? TURN_SPINNING
                     : w->fragment_count || w->block->is_beside ? TURN_DIVERGED
                                                                : TURN_CONVERGED;
        run_fragment(w, f.pc);
        if (!w->yielded) {
            spun = false;
            if (--fragments <= 0)
                break;
            continue;
        }
        struct vg_fragment *last = &w->fragments[w->fragment_count - 1];
        uint64_t hash = spinning_hash(w->block->launch->module, last->frame, last->pc);
        /* A loop may yield twice in each iteration: in a wait for a barrier object, and to sleep. */
        const bool is_new = hash != f.seen[0] && hash != f.seen[1];
        last->since = is_new ? w->clock : f.since;
        bool changed = is_new || (w->looked_at_clock && w->clock - f.since < CLOCK_WAIT_MAX);
        last->seen[0] = hash;
        last->seen[1] = f.seen[0];
        last->spins = !changed;
        spun &= !changed;
        w->spins++;
        if (!changed || w->spins % 64 == 0)
            release_meeting(w);
        if (--turns <= 0)
            break;
    }
    return !spun;
}
