/* Calls, returns and the end of lanes. */
#include "vgpu/exec/bulk_copies.h"
#include "vgpu/exec/control_flow.h"
#include "vgpu/exec/device_functions.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/fragments.h"
#include "vgpu/exec/workers.h"
#include "vgpu/ptx/ptx_decode.h"

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
        vg_find(w, in, VG_FAULT_INVALID_OBJECT, lane, address[lane], 0, false,
                "a call through a pointer that does not point to a function");
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
        const bool watched = w->watched;
        vg_builtin(w, in, f->builtin);
        if (w->block->stop)
            return NULL;
        if (watched == w->watched || in->guard)
            return in + 1;
        /* Only the handlers of the next turn watch accesses. */
        vg_fragment_park(w, in + 1, w->mask, w->meeting, FRAGMENT_READY);
        return NULL;
    }
    uint32_t base = (w->frame->local_top + 15) & ~15u;
    if (base + f->local_bytes > launch->stack_bytes) {
        vg_find(w, in, VG_FAULT_STACK_OVERFLOW, __builtin_ctz(w->mask), 0, 0, false,
                "calls are nested too deeply: the stack of %zu bytes per thread is full",
                launch->stack_bytes);
        return NULL;
    }
    if (lanes != w->mask) {
        /* The lanes call different functions: the others execute the call again, for their own
         * functions. */
        w->sites[in->site].divergent++;
        int i = vg_meeting_new(w);
        w->meetings[i].pc = in + 1;
        w->meetings[i].expected = w->mask;
        w->meeting = i;
        vg_fragment_park(w, in, w->mask & ~lanes, i, FRAGMENT_READY);
        w->mask = lanes;
    }
    int i = vg_meeting_new(w);
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
    vg_local_clear(w, lanes, base, f->local_bytes);
    const uint32_t *arguments = w->frame->function->extra + in->extra;
    arguments += 1 + arguments[0];
    for (uint32_t k = 0; k < arguments[0] && k < f->param_count; k++)
        vg_parameter_copy(w, lanes, base + f->params[k].offset,
                          w->frame->local_base + arguments[1 + k], f->params[k].bytes);
    w->meeting = i;
    w->frame = m->callee;
    w->regs = w->frame->regs;
    w->insns = f->insns;
    return f->insns;
}

/* Groups of lanes that make a call one after another reconverge after it, even without
 * ENTER_JOIN. */
static const struct ir_insn *meet_behind_call(struct vg_warp *w, const struct ir_insn *pc)
{
    while (w->meeting >= 0) {
        struct vg_meeting *m = &w->meetings[w->meeting];
        if (m->is_call || m->pc != pc || m->frame != w->frame || pc->op == IR_ENTER_JOIN)
            break;
        if (!vg_meeting_arrive(w, m, w->mask))
            return NULL;
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
    const struct ir_insn *behind = m->pc;
    if (stay) {
        m->arrived |= lanes;
        w->mask = stay;
        return in + 1;
    }
    return vg_meeting_arrive(w, m, lanes) ? meet_behind_call(w, behind) : NULL;
}

/* Ends lanes, so that other lanes stop waiting for them. */
static void lanes_leave(struct vg_warp *w, uint32_t lanes)
{
    w->alive &= ~lanes;
    w->block->cluster->announced -= (uint32_t)__builtin_popcount(w->announced & lanes);
    w->announced &= ~lanes;
    for (int i = 0; w->meetings_used && i < w->meeting_room; i++) {
        struct vg_meeting *m = &w->meetings[i];
        if (!m->used || !(m->expected & lanes))
            continue;
        m->expected &= ~lanes;
        m->arrived &= ~lanes;
        if (!m->expected) {
            if (m->is_call)
                vg_frame_free(w->worker, m->callee);
            m->used = false;
            w->meetings_used--;
        } else if (m->arrived == m->expected) {
            struct vg_fragment f = vg_meeting_complete(w, m);
            w->fragments[w->fragment_count++] = f;
        }
    }
    for (int i = 0; i < w->fragment_count; i++)
        if (w->fragments[i].state == FRAGMENT_SYNC)
            w->fragments[i].state = FRAGMENT_READY; /* checks again which lanes are missing */
}

const struct ir_insn *vg_exit(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    uint32_t stay = w->mask & ~lanes;
    struct vg_frame *frame = w->frame;
    bulk_lanes_ended(w, lanes);
    lanes_leave(w, lanes);
    w->block->alive_threads -= (uint32_t)__builtin_popcount(lanes);
    vg_progressed(w->worker);
    vg_block_lanes_ended(w->block);
    if (!stay)
        return NULL;
    w->frame = frame;
    w->mask = stay;
    return in + 1;
}
