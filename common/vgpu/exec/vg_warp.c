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
    if (w->mask == VG_FULL) { /* common; becomes vector instructions */
        for (uint32_t i = 0; i < VG_LANES; i++)
            wanted |= member[i];
        return wanted;
    }
    for (uint32_t i = 0; i < VG_LANES; i++) /* several groups may be here, each with its mask */
        wanted |= member[i] & (0u - (w->mask >> i & 1));
    return wanted;
}

bool vg_gather_complete(const struct vg_warp *w, const struct ir_insn *in, uint32_t *all)
{
    const uint32_t wanted = lanes_wanted(w, in);
    *all = w->mask;
    for (int i = 0; i < w->fragment_count; i++) {
        const struct vg_fragment *f = &w->fragments[i];
        if (f->state == FRAGMENT_SYNC && f->pc == in && f->frame == w->frame && f->mask & wanted)
            *all |= f->mask;
    }
    return !(wanted & w->alive & ~*all) || w->forced == in;
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
    return true;
}

const struct ir_insn *vg_gathered(struct vg_warp *w, const struct ir_insn *in)
{
    uint32_t others = w->mask & ~w->gather_own;
    for (int i = 0; others && i < w->fragment_count; i++) {
        struct vg_fragment *f = &w->fragments[i];
        if (f->state == FRAGMENT_SYNC && f->pc == in && f->mask & others) {
            f->state = FRAGMENT_READY;
            f->pc = in + 1;
        }
    }
    w->mask = w->gather_own;
    w->warp_epoch++;
    return in + 1;
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
    int turns = w->fragment_count + 1;
    bool spun = true;
    for (int i; !w->block->stop && (i = next_ready(w)) >= 0;) {
        struct vg_fragment f = w->fragments[i];
        memmove(&w->fragments[i], &w->fragments[i + 1],
                (size_t)(w->fragment_count - i - 1) * sizeof f);
        w->fragment_count--;
        vg_fragment_load(w, &f);
        w->yielded = w->looked_at_clock = false;
        w->quantum = f.spins                                    ? TURN_SPINNING
                     : w->fragment_count || w->block->is_beside ? TURN_DIVERGED
                                                                : TURN_CONVERGED;
        run_fragment(w, f.pc);
        if (!w->yielded) {
            spun = false;
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
