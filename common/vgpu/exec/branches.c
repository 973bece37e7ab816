/* Branches that split a fragment, and the meetings where its parts are joined again. */
#include "vgpu/exec/access_sites.h"
#include "vgpu/exec/control_flow.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/fragments.h"

const struct ir_insn *vg_meet(struct vg_warp *w, const struct ir_insn *in)
{
    while (w->meeting >= 0) {
        struct vg_meeting *m = &w->meetings[w->meeting];
        if (m->pc != in || m->frame != w->frame)
            break;
        if (!vg_meeting_arrive(w, m, w->mask))
            return NULL;
    }
    w->block_warps[in->target]++;
    w->block_threads[in->target] += (uint64_t)__builtin_popcount(w->mask);
    return in + 1;
}

/* Creates (or finds) the meeting of a branch. @return its index; the running fragment's if both are
 * the same. */
static int branch_meeting(struct vg_warp *w, const struct ir_insn *in)
{
    if (in->imm < 0)
        return w->meeting;
    const struct ir_insn *pc = w->insns + in->imm;
    if (w->meeting >= 0 && w->meetings[w->meeting].pc == pc &&
        w->meetings[w->meeting].frame == w->frame)
        return w->meeting;
    int i = vg_meeting_new(w);
    w->meetings[i].pc = pc;
    w->meetings[i].expected = w->mask;
    return i;
}

void vg_wait(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    if (!lanes)
        return;
    w->meeting = branch_meeting(w, in);
    w->meetings[w->meeting].arrived |= lanes;
    w->mask &= ~lanes;
}

const struct ir_insn *vg_split(struct vg_warp *w, const struct ir_insn *in, uint32_t taken)
{
    const struct ir_insn *target = w->insns + in->target, *next = in + 1;
    uint32_t others = w->mask & ~taken;
    w->sites[in->site].divergent++;
    int meeting = branch_meeting(w, in);
    w->meeting = meeting;
    const struct ir_insn *meets = in->imm >= 0 ? w->insns + in->imm : NULL;
    if (w->quantum > TURN_DIVERGED)
        w->quantum = TURN_DIVERGED;
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
        vg_fragment_park(w, next, others, meeting, FRAGMENT_READY);
        w->mask = taken;
        return target;
    }
    vg_fragment_park(w, target, taken, meeting, FRAGMENT_READY);
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
    if (groups > 1) {
        w->sites[in->site].divergent++;
        w->meeting = branch_meeting(w, in);
        for (int g = groups - 1; g > 0; g--)
            vg_fragment_park(w, w->insns + at[g], masks[g], w->meeting, FRAGMENT_READY);
        w->mask = masks[0];
    }
    const struct ir_insn *to = w->insns + at[0];
    return to <= in && --w->quantum <= 0 ? vg_yield(w, to) : to;
}
