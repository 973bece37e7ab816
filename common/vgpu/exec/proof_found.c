/* While a proof follows an output: keeps the last steps of the threads that a finding names. */
#include "vgpu/exec/proof_log.h"

/* @return a thread that does not wait at a barrier, or -1. */
static int64_t thread_elsewhere(const struct vg_block *b)
{
    for (uint32_t i = 0; i < b->warp_count; i++) {
        const struct vg_warp *w = &b->warps[i];
        const uint32_t first = i * VG_LANES, left = b->launch->threads - first;
        uint32_t elsewhere = left >= VG_LANES ? VG_FULL : (1u << left) - 1;
        for (int k = 0; k < w->fragment_count; k++)
            if (w->fragments[k].state == FRAGMENT_BARRIER)
                elsewhere &= ~w->fragments[k].mask;
        if (elsewhere)
            return first + (uint32_t)__builtin_ctz(elsewhere);
    }
    return -1;
}

void proof_found(struct vg_block *b, enum vg_fault_kind kind, int64_t thread, int64_t other)
{
    struct proof *p = b->launch->device->proof;
    if (!p || !p->log || p->log->found_count == PROOF_FOUND)
        return;
    struct proof_found *found = &p->log->found[p->log->found_count++];
    const int64_t of[2] = {thread,
                           kind == VG_FAULT_BARRIER_DIVERGENCE ? thread_elsewhere(b) : other};
    *found = (struct proof_found){.module = b->launch->module};
    found->block = vg_place(b->launch->grid, b->place);
    for (int i = 0; i < 2; i++) {
        if (of[i] < 0 || of[i] >= b->launch->threads || !b->warps[of[i] / VG_LANES].proof.recent)
            continue;
        found->thread[i] = vg_place(b->launch->block, (uint64_t)of[i]);
        found->recent[i] = b->warps[of[i] / VG_LANES].proof.recent[of[i] % VG_LANES];
    }
}
