#include "vgpu/exec/spinning.h"

#include "vgpu/exec/frames.h"
#include "vgpu/exec/flows.h"
#include "vgpu/exec/vg_module.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdatomic.h>
#include <stdlib.h>

/* @return the slots that are live before an instruction, computed at the first call; NULL: out of
 * memory. */
static const uint64_t *live_slots(struct vg_module *m, const struct ir_function *f, uint32_t index)
{
    _Atomic(uint64_t *) *at = &m->live_slots[f->first_insn + index];
    uint64_t *set = atomic_load(at), *none = NULL;
    if (set)
        return set;
    const struct ptx_flow *flow = flow_of(m, f);
    set = calloc(flow->words + 1, sizeof *set);
    if (set)
        ptx_flow_live(flow, index, set);
    if (set && !atomic_compare_exchange_strong(at, &none, set)) {
        free(set);
        set = none; /* another thread's set is equal */
    }
    return set;
}

/* Hashes in four chains: a single one would be slow, since each multiplication waits for the
 * last. */
static uint64_t hash_slot(const void *at, uint32_t bytes, uint64_t before)
{
    const uint64_t prime = 1099511628211u;
    if (bytes < 32)
        return (before ^ *(const uint32_t *)at) * prime;
    uint64_t a = before, b = 1, c = 2, d = 3;
    const uint64_t *words = at;
    for (uint32_t i = 0; i < bytes / 8; i += 4) {
        a = (a ^ words[i]) * prime;
        b = (b ^ words[i + 1]) * prime;
        c = (c ^ words[i + 2]) * prime;
        d = (d ^ words[i + 3]) * prime;
    }
    return (((a * prime ^ b) * prime ^ c) * prime ^ d) * prime;
}

uint64_t spinning_hash(struct vg_module *m, const struct vg_frame *frame, const struct ir_insn *pc)
{
    const struct ir_function *f = frame->function;
    const uint64_t *live = live_slots(m, f, (uint32_t)(pc - f->insns));
    uint64_t hash = 1469598103934665603u ^ (uint64_t)(uintptr_t)pc;
    for (uint32_t i = 0; i < f->slot_count; i++)
        if (!live || ptx_set_has(live, i))
            hash = hash_slot(frame->regs + f->slots[i].offset, f->slots[i].bytes, hash);
    return hash;
}

void spinning_free(struct vg_module *m)
{
    for (uint32_t i = 0; m->live_slots && i < m->ir.insn_count; i++)
        free(atomic_load(&m->live_slots[i]));
    free(m->live_slots);
}
