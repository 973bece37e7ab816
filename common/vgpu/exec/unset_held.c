#include "vgpu/exec/unset_held.h"

#include "vgpu/exec/unset_copies.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdlib.h>
#include <string.h>

struct vg_unset *unset_of(struct vg_warp *w)
{
    if (!w->unset && !(w->unset = calloc(1, sizeof *w->unset)))
        abort();
    return w->unset;
}

void unset_forget(struct vg_warp *w)
{
    struct vg_unset *u = w->unset;
    w->copies_unset = false;
    if (!u)
        return;
    u->count = u->reported_count = 0;
    memset(&u->judged, 0, sizeof u->judged);
    u->maybe = 0;
    u->left = 0;
    if (u->local_count)
        memset(u->local, 0, VG_LANES * u->stride);
    u->local_count = 0;
}

void unset_free(struct vg_unset *u)
{
    if (u)
        free(u->local);
    free(u);
}

uint64_t unset_slot_bit(uint32_t slot)
{
    return slot ? UINT64_C(1) << slot / (4 * VG_LANES) % 64 : 0;
}

struct unset_held *unset_find(struct vg_unset *u, const struct vg_frame *frame, uint32_t slot)
{
    for (int i = 0; u->maybe & unset_slot_bit(slot) && i < u->count; i++)
        if (u->held[i].slot == slot && u->held[i].frame == frame)
            return &u->held[i];
    return NULL;
}

static struct unset_held *find_or_add(struct vg_unset *u, const struct vg_frame *frame,
                                      uint32_t slot)
{
    struct unset_held *h = unset_find(u, frame, slot);
    if (h || u->count == UNSET_REGISTERS)
        return h;
    h = &u->held[u->count++];
    u->maybe |= unset_slot_bit(slot);
    h->frame = frame;
    h->slot = slot;
    h->lanes = 0;
    memset(h->bytes, 0, sizeof h->bytes);
    return h;
}

uint8_t unset_held_bytes(const struct unset_held *h, uint32_t lane)
{
    return h && h->lanes >> lane & 1 ? h->bytes[lane] : 0;
}

uint8_t unset_usable_bytes(const struct unset_held *h, uint32_t lane)
{
    const uint8_t bytes = unset_held_bytes(h, lane);
    return bytes && h->from[lane].may_be_used ? bytes : 0;
}

uint32_t unset_usable_lanes(const struct unset_held *h)
{
    uint32_t lanes = 0;
    for (uint32_t left = h ? h->lanes : 0; left; left &= left - 1)
        lanes |= unset_usable_bytes(h, (uint32_t)__builtin_ctz(left)) ? left & -left : 0;
    return lanes;
}

void unset_hold(struct vg_warp *w, uint32_t slot, uint32_t lane, uint8_t bytes,
                const struct unset_source *from)
{
    struct vg_unset *u = unset_of(w);
    struct unset_held *h =
        bytes && slot ? find_or_add(u, w->frame, slot) : unset_find(u, w->frame, slot);
    if (!h)
        return;
    h->lanes = (h->lanes & ~(1u << lane)) | (uint32_t)(bytes != 0) << lane;
    h->bytes[lane] = bytes;
    if (bytes)
        h->from[lane] = *from;
    w->copies_unset |= bytes != 0;
}

void unset_hold_result(struct vg_warp *w, uint32_t slot, uint32_t lane, uint8_t bytes,
                       const struct unset_source *of)
{
    struct unset_source from = *of;
    from.computed = true;
    unset_hold(w, slot, lane, bytes, &from);
}

void unset_drop(struct vg_warp *w, uint32_t slot, uint32_t lanes)
{
    struct unset_held *h = unset_find(w->unset, w->frame, slot);
    if (h)
        h->lanes &= ~lanes;
}

void unset_hold_elements(struct vg_warp *w, const struct ir_insn *in, uint32_t lane, uint32_t bytes,
                         const struct unset_source *from)
{
    const bool extends = ptx_type_is_signed((enum ptx_type)in->type) && from->may_be_used;
    for (uint32_t k = 0; k < in->vector; k++, bytes >>= in->bytes) {
        const uint32_t own = bytes & ((1u << in->bytes) - 1);
        unset_hold(w, ptx_element_slot(w->frame->function, in, k, in->d), lane,
                   (uint8_t)(own && extends ? 0xff : own), from);
    }
}

void unset_drop_source(struct vg_warp *w, const struct ir_insn *load, uint32_t lanes)
{
    for (int i = 0; i < w->unset->count; i++) {
        struct unset_held *const h = &w->unset->held[i];
        for (uint32_t left = h->lanes & lanes; left; left &= left - 1)
            if (h->from[__builtin_ctz(left)].in == load)
                h->lanes &= ~(left & -left);
    }
    unset_tidy(w);
}

void unset_tidy(struct vg_warp *w)
{
    struct vg_unset *const u = w->unset;
    u->maybe = 0;
    for (int i = 0; i < u->count;)
        if (u->held[i].lanes)
            u->maybe |= unset_slot_bit(u->held[i++].slot);
        else
            u->held[i] = u->held[--u->count];
    w->copies_unset = u->count > 0 || u->local_count > 0;
}
