/* Asynchronous copies to shared memory (cp.async). A thread's copies form groups. They are carried
 * out at the last permitted moment, when the thread waits for them, so that earlier reads do not
 * see the data. Until then their destination words are marked, and a read of a marked word is a
 * finding. */
#include "vgpu/exec/async_copies.h"

#include "vgpu/exec/findings.h"
#include "vgpu/exec/unset_copies.h"
#include "vgpu/exec/vg_warp.h"
#include "vgpu/ptx/ptx_arena.h"

#include <string.h>

enum { MOST = 1024 }; /* pending copies of a warp; beyond, the older half is carried out early */

static void deliver(struct vg_warp *w, struct vg_copies *c, uint32_t lanes)
{
    struct vg_block *b = w->block;
    c->lanes &= ~lanes;
    for (; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        const uint32_t at = c->to[lane];
        memcpy(b->shared + at, c->data[lane], c->bytes);
        memset(b->shared_set + at / 4, 0x0f, c->bytes / 4);
        if (c->unset[lane])
            unset_delivered(w, b->launch->module->insns[c->insn], at, c->unset[lane]);
        if (c->epoch == b->race.epoch) /* entered in the shadow when the copy was issued */
            continue;
        const struct race_access who = {c->insn, w->step, (uint16_t)(w->index * VG_LANES + lane),
                                        w->warp_epoch};
        const struct race_hit hit = race_enter(&b->race, at, c->bytes, who, RACE_WRITE);
        if (hit.kind != RACE_NONE)
            vg_find_race(w, w->block->launch->module->insns[c->insn], lane, at, c->bytes, true,
                         hit);
    }
}

struct vg_copies *vg_copies_new(struct vg_warp *w)
{
    if (w->copy_count == MOST) {
        for (int i = 0; i < MOST / 2; i++)
            deliver(w, &w->copies[i], w->copies[i].lanes);
        memcpy(w->copies, w->copies + MOST / 2, MOST / 2 * sizeof *w->copies);
        w->copy_count = MOST / 2;
    }
    size_t room = (size_t)w->copy_room;
    w->copies = ptx_grow(w->copies, (size_t)w->copy_count, &room, sizeof *w->copies);
    w->copy_room = (int)room;
    w->block->has_copies = true;
    return &w->copies[w->copy_count++];
}

void vg_copies_wait(struct vg_warp *w, uint32_t lanes, bool all, uint32_t groups)
{
    int left = 0;
    if (w->copy_count)
        vg_shared_step(w);
    for (int i = 0; i < w->copy_count; i++) {
        struct vg_copies *c = &w->copies[i];
        uint32_t done = 0;
        for (uint32_t l = c->lanes & lanes; l; l &= l - 1) {
            const int lane = __builtin_ctz(l);
            if (all || (uint64_t)c->group[lane] + groups < w->groups[lane])
                done |= l & -l;
        }
        deliver(w, c, done);
        if (c->lanes && left++ != i)
            w->copies[left - 1] = *c;
    }
    w->copy_count = left;
}

static bool is_pending(const struct vg_block *b, uint32_t address, uint32_t bytes)
{
    for (uint32_t word = address / 4; b->has_copies && word <= (address + bytes - 1) / 4; word++)
        if (b->shared_set[word] & VG_COPY_PENDING)
            return true;
    return false;
}

/* Clears the marks of a word, so that it is reported only once. */
static void forget(struct vg_block *b, uint32_t address, uint32_t bytes)
{
    for (uint32_t word = address / 4; word <= (address + bytes - 1) / 4; word++)
        if (b->shared_set[word] & VG_COPY_PENDING)
            b->shared_set[word] = 0x0f;
}

struct race_hit vg_copies_race(struct vg_block *b, uint32_t address, uint32_t bytes)
{
    struct race_hit none = {.kind = RACE_NONE};
    if (!is_pending(b, address, bytes))
        return none;
    forget(b, address, bytes);
    for (uint32_t i = 0; i < b->warp_count; i++) {
        const struct vg_warp *w = &b->warps[i];
        for (int k = 0; k < w->copy_count; k++)
            for (uint32_t l = w->copies[k].lanes; l; l &= l - 1) {
                const struct vg_copies *c = &w->copies[k];
                const int lane = __builtin_ctz(l);
                if (c->to[lane] < address + bytes && address < c->to[lane] + c->bytes)
                    return (struct race_hit){.kind = RACE_RAW,
                                             .other_insn = c->insn,
                                             .other_thread =
                                                 (uint16_t)(i * VG_LANES + (uint32_t)lane),
                                             .other_writes = true,
                                             .is_copy = true};
            }
    }
    return none;
}
