/* Fragments, meetings, calls, and waiting for named lanes. See vg_exec.h for the model.
 *
 * Handlers that cannot go on return NULL: before that, the running fragment was either dropped (its
 * lanes are counted in a meeting, or ended) or put back into w->fragments with a state. */
#include "vgpu/exec/vg_exec.h"

#include <stdlib.h>
#include <string.h>

/* Backward branches in one turn of a fragment: alone in its warp, one of several, and one whose
 * last turn changed nothing. */
enum { CONVERGED = 20000, DIVERGED = 1024, SPINNING = 64 };

static void load(struct vg_warp *w, const struct vg_fragment *f)
{
    w->mask = f->mask;
    w->meeting = f->meeting;
    w->frame = f->frame;
    w->regs = f->frame->regs;
    w->insns = f->frame->function->insns;
}

static struct vg_fragment *park(struct vg_warp *w, const struct ir_insn *pc, uint32_t mask,
                                int meeting, enum vg_fragment_state state)
{
    struct vg_fragment *f = &w->fragments[w->fragment_count++];
    *f = (struct vg_fragment){
        .pc = pc, .frame = w->frame, .mask = mask, .meeting = meeting, .state = state};
    return f;
}

static int meeting_new(struct vg_warp *w)
{
    int i = 0;
    while (i < w->meeting_room && w->meetings[i].used)
        i++;
    if (i == w->meeting_room) {
        int room = w->meeting_room ? w->meeting_room * 2 : 16;
        struct vg_meeting *more = realloc(w->meetings, (size_t)room * sizeof *more);
        if (!more)
            abort();
        memset(more + w->meeting_room, 0, (size_t)(room - w->meeting_room) * sizeof *more);
        w->meetings = more;
        w->meeting_room = room;
    }
    w->meetings[i] = (struct vg_meeting){.used = true, .parent = w->meeting, .frame = w->frame};
    return i;
}

static char *local_of(const struct vg_warp *w, int lane)
{
    return w->local + (size_t)lane * w->block->launch->local_bytes;
}

/* Copies a parameter inside a lane's local memory. Damaged PTX may pass fewer bytes than the callee
 * takes: what would leave the memory is not copied. */
static void copy_parameter(const struct vg_warp *w, int lane, size_t to, size_t from, size_t bytes)
{
    size_t room = w->block->launch->local_bytes;
    if (to + bytes <= room && from + bytes <= room)
        memmove(local_of(w, lane) + to, local_of(w, lane) + from, bytes);
}

/* Results go from the callee's local memory to the caller's; then its frame is free. */
static void finish_call(struct vg_warp *w, struct vg_meeting *m)
{
    const struct ir_function *f = m->callee->function;
    const uint32_t *results = m->frame->function->extra + m->call->extra;
    for (uint32_t i = 0; i < results[0] && i < f->return_count; i++)
        for (uint32_t left = m->expected; left; left &= left - 1)
            copy_parameter(w, __builtin_ctz(left), m->frame->local_base + results[1 + i],
                           m->callee->local_base + f->returns[i].offset, f->returns[i].bytes);
    vg_frame_free(w->worker, m->callee);
}

/* All lanes expected have come: they are one fragment behind the meeting. */
static struct vg_fragment complete(struct vg_warp *w, struct vg_meeting *m)
{
    struct vg_fragment f = {.pc = m->pc,
                            .frame = m->frame,
                            .mask = m->expected,
                            .meeting = m->parent,
                            .state = FRAGMENT_READY};
    if (m->is_call)
        finish_call(w, m);
    m->used = false;
    return f;
}

const struct ir_insn *vg_meet(struct vg_warp *w, const struct ir_insn *in)
{
    while (w->meeting >= 0) {
        struct vg_meeting *m = &w->meetings[w->meeting];
        if (m->pc != in || m->frame != w->frame)
            break;
        m->arrived |= w->mask;
        if (m->arrived != m->expected)
            return NULL;
        struct vg_fragment f = complete(w, m);
        load(w, &f);
    }
    w->block_warps[in->target]++;
    w->block_threads[in->target] += (uint64_t)__builtin_popcount(w->mask);
    return in + 1;
}

/* Makes (or finds) the meeting of a branch. @return its index, or that of the running fragment. */
static int branch_meeting(struct vg_warp *w, const struct ir_insn *in)
{
    if (in->imm < 0)
        return w->meeting;
    const struct ir_insn *pc = w->insns + in->imm;
    if (w->meeting >= 0 && w->meetings[w->meeting].pc == pc &&
        w->meetings[w->meeting].frame == w->frame)
        return w->meeting;
    int i = meeting_new(w);
    w->meetings[i].pc = pc;
    w->meetings[i].expected = w->mask;
    return i;
}

const struct ir_insn *vg_split(struct vg_warp *w, const struct ir_insn *in, uint32_t taken)
{
    const struct ir_insn *target = w->insns + in->target, *next = in + 1;
    uint32_t others = w->mask & ~taken;
    w->sites[in->site].divergent++;
    int meeting = branch_meeting(w, in);
    w->meeting = meeting;
    const struct ir_insn *meets = in->imm >= 0 ? w->insns + in->imm : NULL;
    if (w->quantum > DIVERGED)
        w->quantum = DIVERGED;
    if (target == meets) {
        w->meetings[meeting].arrived |= taken;
        w->mask = others;
        return next;
    }
    if (next == meets) {
        w->meetings[meeting].arrived |= others;
        w->mask = taken;
        return target;
    }
    if (target < next) {
        park(w, next, others, meeting, FRAGMENT_READY);
        w->mask = taken;
        return target;
    }
    park(w, target, taken, meeting, FRAGMENT_READY);
    w->mask = others;
    return next;
}

const struct ir_insn *vg_branch_index(struct vg_warp *w, const struct ir_insn *in)
{
    const uint32_t *index = (const uint32_t *)(w->regs + in->a);
    const uint32_t *targets = w->frame->function->extra + in->extra;
    uint32_t left = w->mask, masks[VG_LANES], at[VG_LANES];
    int groups = 0;
    while (left) {
        int lane = __builtin_ctz(left);
        if (index[lane] >= in->extras) {
            vg_find(w, in, VG_FAULT_TRAP, lane, index[lane], 0, false,
                    "a jump table with %d entries is indexed with %u", in->extras, index[lane]);
            return NULL;
        }
        uint32_t target = targets[index[lane]], mask = 0;
        for (uint32_t m = left; m; m &= m - 1) {
            uint32_t i = index[__builtin_ctz(m)];
            if (i < in->extras && targets[i] == target)
                mask |= m & -m;
        }
        masks[groups] = mask;
        at[groups++] = target;
        left &= ~mask;
    }
    if (groups == 1)
        return w->insns + at[0];
    w->sites[in->site].divergent++;
    w->meeting = branch_meeting(w, in);
    for (int g = groups - 1; g > 0; g--)
        park(w, w->insns + at[g], masks[g], w->meeting, FRAGMENT_READY);
    w->mask = masks[0];
    return w->insns + at[0];
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool callee_of(struct vg_warp *w, const struct ir_insn *in, uint32_t *index, uint32_t *lanes)
{
    struct ir_module *m = &w->block->launch->module->ir;
    *index = in->target;
    *lanes = w->mask;
    if (!in->wide_address)
        return true;
    const uint64_t *address = (const uint64_t *)(w->regs + in->a);
    int lane = __builtin_ctz(w->mask);
    uint64_t offset = address[lane] - PTX_FUNCTION_BASE;
    if (offset % 16 || offset / 16 >= m->function_count || !m->functions[offset / 16].has_body) {
        vg_find(w, in, VG_FAULT_INVALID_ADDRESS, lane, address[lane], 0, false,
                "a call through a pointer that is not a function's");
        return false;
    }
    *index = (uint32_t)(offset / 16);
    *lanes = 0;
    for (uint32_t left = w->mask; left; left &= left - 1)
        if (address[__builtin_ctz(left)] == address[lane])
            *lanes |= left & -left;
    return true;
}

const struct ir_insn *vg_call(struct vg_warp *w, const struct ir_insn *in)
{
    uint32_t index, lanes;
    struct vg_launch *launch = w->block->launch;
    if (!callee_of(w, in, &index, &lanes))
        return NULL;
    struct ir_function *f = &launch->module->ir.functions[index];
    if (f->builtin) {
        vg_builtin(w, in, f->builtin);
        return w->block->stop ? NULL : in + 1;
    }
    uint32_t base = (w->frame->local_top + 15) & ~15u;
    if (base + f->local_bytes > launch->local_bytes) {
        vg_find(w, in, VG_FAULT_STACK_OVERFLOW, __builtin_ctz(w->mask), 0, 0, false,
                "calls are nested too deep: the stack of %zu bytes a thread is full",
                launch->local_bytes);
        return NULL;
    }
    if (lanes != w->mask) {
        /* Pointers to several functions: the other lanes make the call again, for theirs. */
        w->sites[in->site].divergent++;
        int i = meeting_new(w);
        w->meetings[i].pc = in + 1;
        w->meetings[i].expected = w->mask;
        w->meeting = i;
        park(w, in, w->mask & ~lanes, i, FRAGMENT_READY);
        w->mask = lanes;
    }
    int i = meeting_new(w);
    struct vg_meeting *m = &w->meetings[i];
    m->pc = in + 1;
    m->expected = lanes;
    m->is_call = true;
    m->call = in;
    m->callee = vg_frame_new(w->worker, f);
    m->callee->caller = w->frame;
    m->callee->local_base = base;
    m->callee->local_top = base + (uint32_t)f->local_bytes;
    vg_frame_fill(m->callee, launch);
    const uint32_t *arguments = w->frame->function->extra + in->extra;
    arguments += 1 + arguments[0];
    for (uint32_t k = 0; k < arguments[0] && k < f->param_count; k++)
        for (uint32_t left = lanes; left; left &= left - 1)
            copy_parameter(w, __builtin_ctz(left), base + f->params[k].offset,
                           w->frame->local_base + arguments[1 + k], f->params[k].bytes);
    w->meeting = i;
    w->frame = m->callee;
    w->regs = w->frame->regs;
    w->insns = f->insns;
    return f->insns;
}

/* After a call that several groups of lanes make one by one, the groups meet without ENTER_JOIN. */
static const struct ir_insn *meet_behind_call(struct vg_warp *w, const struct ir_insn *pc)
{
    while (w->meeting >= 0) {
        struct vg_meeting *m = &w->meetings[w->meeting];
        if (m->is_call || m->pc != pc || m->frame != w->frame || pc->op == IR_ENTER_JOIN)
            break;
        m->arrived |= w->mask;
        if (m->arrived != m->expected)
            return NULL;
        struct vg_fragment f = complete(w, m);
        load(w, &f);
    }
    return pc;
}

const struct ir_insn *vg_return(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    if (!w->frame->caller)
        return vg_exit(w, in, lanes);
    uint32_t stay = w->mask & ~lanes;
    int i = w->meeting;
    while (i >= 0 && !w->meetings[i].is_call) {
        w->meetings[i].expected &= ~lanes;
        i = w->meetings[i].parent;
    }
    struct vg_meeting *m = &w->meetings[i];
    m->arrived |= lanes;
    if (stay) {
        w->mask = stay;
        return in + 1;
    }
    if (m->arrived != m->expected)
        return NULL;
    struct vg_fragment f = complete(w, m);
    load(w, &f);
    return meet_behind_call(w, f.pc);
}

/* Lanes end: nobody waits for them any more. */
static void lanes_leave(struct vg_warp *w, uint32_t lanes)
{
    w->alive &= ~lanes;
    for (int i = 0; i < w->meeting_room; i++) {
        struct vg_meeting *m = &w->meetings[i];
        if (!m->used || !(m->expected & lanes))
            continue;
        m->expected &= ~lanes;
        m->arrived &= ~lanes;
        if (!m->expected) {
            if (m->is_call)
                vg_frame_free(w->worker, m->callee);
            m->used = false;
        } else if (m->arrived == m->expected) {
            struct vg_fragment f = complete(w, m);
            w->fragments[w->fragment_count++] = f;
        }
    }
    for (int i = 0; i < w->fragment_count; i++)
        if (w->fragments[i].state == FRAGMENT_SYNC)
            w->fragments[i].state = FRAGMENT_READY; /* looks again who is missing */
}

const struct ir_insn *vg_exit(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    uint32_t stay = w->mask & ~lanes;
    struct vg_frame *frame = w->frame;
    lanes_leave(w, lanes);
    w->block->alive_threads -= (uint32_t)__builtin_popcount(lanes);
    atomic_fetch_add_explicit(&w->block->launch->progress, 1, memory_order_relaxed);
    vg_block_lanes_ended(w->block);
    if (!stay)
        return NULL;
    w->frame = frame;
    w->mask = stay;
    return in + 1;
}

/* ---- waiting --------------------------------------------------------------------------------- */

bool vg_gather(struct vg_warp *w, const struct ir_insn *in)
{
    const uint32_t *member = (const uint32_t *)(w->regs + in->f);
    uint32_t wanted = member[__builtin_ctz(w->mask)];
    uint32_t all = w->mask;
    for (int i = 0; i < w->fragment_count; i++) {
        const struct vg_fragment *f = &w->fragments[i];
        if (f->state == FRAGMENT_SYNC && f->pc == in && f->frame == w->frame && f->mask & wanted)
            all |= f->mask;
    }
    if (wanted & w->alive & ~all && w->forced != in) {
        struct vg_fragment *f = park(w, in, w->mask, w->meeting, FRAGMENT_SYNC);
        f->wanted = wanted;
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
    park(w, resume, w->mask, w->meeting, FRAGMENT_READY);
    w->yielded = true;
    return NULL;
}

/* (four sums, since one would be a chain of multiplications) */
static uint64_t hash_registers(const struct vg_frame *frame)
{
    const uint64_t prime = 1099511628211u;
    uint64_t a = 1469598103934665603u, b = 1, c = 2, d = 3;
    const uint64_t *words = (const uint64_t *)(const void *)frame->regs;
    uint32_t i = SINK_WORDS, n = frame->function->frame_bytes / 8;
    for (; i + 4 <= n; i += 4) {
        a = (a ^ words[i]) * prime;
        b = (b ^ words[i + 1]) * prime;
        c = (c ^ words[i + 2]) * prime;
        d = (d ^ words[i + 3]) * prime;
    }
    for (; i < n; i++)
        a = (a ^ words[i]) * prime;
    return (((a * prime ^ b) * prime ^ c) * prime ^ d) * prime;
}

static int next_ready(const struct vg_warp *w)
{
    for (int i = 0; i < w->fragment_count; i++)
        if (w->fragments[i].state == FRAGMENT_READY)
            return i;
    return -1;
}

/* Lanes that wait at a meeting go on without the others. */
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
                "%s waits for the lanes %08x of its mask, but lanes %08x never come here",
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
    for (int i = 0; i < w->meeting_room; i++) {
        if (w->meetings[i].used && w->meetings[i].is_call)
            vg_frame_free(w->worker, w->meetings[i].callee);
        w->meetings[i].used = false;
    }
    w->forced = NULL;
    w->meeting = -1;
    w->frame = w->entry;
    w->warp_epoch = 0;
    w->spins = 0;
    if (w->alive)
        park(w, first, w->alive, -1, FRAGMENT_READY);
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
        load(w, &f);
        w->yielded = false;
        w->quantum = f.spins                                    ? SPINNING
                     : w->fragment_count || w->block->is_beside ? DIVERGED
                                                                : CONVERGED;
        const struct vg_handlers *handlers = w->worker->device->handlers;
        (w->sample ? handlers->enter_sampled : handlers->enter)(f.pc, w);
        if (!w->yielded) {
            spun = false;
            continue;
        }
        struct vg_fragment *last = &w->fragments[w->fragment_count - 1];
        uint64_t hash = hash_registers(last->frame) ^ (uint64_t)(uintptr_t)last->pc;
        bool changed = hash != f.seen;
        last->seen = hash;
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
