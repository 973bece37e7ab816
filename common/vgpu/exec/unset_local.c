#include "vgpu/exec/unset_local.h"

#include "vgpu/exec/proof.h"
#include "vgpu/exec/unset_held.h"
#include "vgpu/exec/unset_values.h"
#include "vgpu/exec/vg_module.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdlib.h>
#include <string.h>

enum { FOLLOWED = 20000 /* instructions, see unset_local_start() */ };

static void local_put(struct vg_unset *u, uint32_t lane, uint64_t at, uint8_t what)
{
    uint8_t *const byte = &u->local[lane * u->stride + at];
    u->local_count += (size_t)(what != LOCAL_SET) - (size_t)(*byte != LOCAL_SET);
    *byte = what;
}

static void local_make(struct vg_unset *u, const struct vg_warp *w)
{
    if (u->local_count)
        return;
    u->stride = w->block->launch->local_stride;
    if (u->local_room < VG_LANES * u->stride) {
        free(u->local);
        u->local_room = VG_LANES * u->stride;
        u->local = malloc(u->local_room);
        if (!u->local)
            abort();
    }
    memset(u->local, LOCAL_SET, VG_LANES * u->stride);
}

bool unset_is_local(const struct ir_insn *in, uint64_t address, uint64_t *at)
{
    const bool in_window = address - VG_LOCAL_BASE < UINT64_C(1) << 40;
    *at = in_window ? address - VG_LOCAL_BASE : address;
    return in_window || in->space == PTX_SPACE_LOCAL ||
           (in->space == PTX_SPACE_PARAM && address < UINT64_C(1) << 32);
}

void unset_local_start(struct vg_warp *w, size_t bytes)
{
    struct vg_unset *u = unset_of(w);
    local_make(u, w);
    for (uint32_t lane = 0; lane < VG_LANES; lane++)
        if (w->alive >> lane & 1) {
            memset(u->local + lane * u->stride, LOCAL_NEVER, bytes);
            u->local_count += bytes;
        }
    u->left = FOLLOWED;
    w->copies_unset = u->local_count > 0;
}

void unset_local_end(struct vg_warp *w)
{
    struct vg_unset *u = w->unset;
    for (uint32_t lane = 0; lane < VG_LANES; lane++)
        for (size_t at = 0; at < u->stride && u->local_count; at++)
            if (u->local[lane * u->stride + at] == LOCAL_NEVER)
                local_put(u, lane, at, LOCAL_SET);
}

void unset_local_copied(const struct vg_warp *w, uint32_t lanes, size_t to, size_t from,
                        size_t bytes)
{
    struct vg_unset *u = w->unset;
    for (uint32_t left = lanes; left && u->local_count; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        for (size_t k = 0; k < bytes; k++) {
            const size_t i = to > from ? bytes - 1 - k : k;
            local_put(u, lane, to + i, u->local[lane * u->stride + from + i]);
        }
    }
}

void unset_local_set(const struct vg_warp *w, uint32_t lanes, size_t at, size_t bytes)
{
    struct vg_unset *u = w->unset;
    for (uint32_t left = lanes; left && u->local_count; left &= left - 1)
        for (size_t i = 0; i < bytes && at + i < u->stride; i++)
            local_put(u, (uint32_t)__builtin_ctz(left), at + i, LOCAL_SET);
}

void unset_local_store(struct vg_warp *w, uint32_t lane, uint64_t at, uint32_t bytes, uint32_t size,
                       const struct unset_source *from)
{
    struct vg_unset *u = w->unset;
    const uint8_t what = from->computed ? LOCAL_COMPUTED : LOCAL_COPIED;
    if (bytes)
        local_make(u, w);
    for (uint32_t i = 0; i < size && (bytes || u->local_count) && at + i < u->stride; i++)
        local_put(u, lane, at + i, bytes >> i & 1 ? what : LOCAL_SET);
    if (bytes)
        u->local_from[what] = *from;
}

/* @return a bit for each of at most 32 bytes of a lane's local memory that is unwritten.
 * @param what  becomes the LOCAL_... of one of them; LOCAL_COMPUTED if any is */
static uint32_t local_bytes(const struct vg_unset *u, uint32_t lane, uint64_t at, uint32_t size,
                            uint8_t *what)
{
    uint32_t bytes = 0;
    *what = LOCAL_SET;
    for (uint32_t i = 0; i < size && u->local_count && at + i < u->stride; i++) {
        const uint8_t own = u->local[lane * u->stride + at + i];
        bytes |= (uint32_t)(own != LOCAL_SET) << i;
        if (own != LOCAL_SET && *what != LOCAL_COMPUTED)
            *what = own;
    }
    return bytes;
}

/* Holds unwritten bytes that a lane loads from local memory. */
static void load_local(struct vg_warp *w, const struct ir_insn *in, uint32_t lane, uint64_t address,
                       uint32_t bytes, uint8_t what)
{
    struct unset_source own = {
        .in = in, .address = address, .lane = (uint8_t)lane, .is_local = true};
    const enum unset_use use =
        unset_value_use(w->block->launch->module, w->frame->function, in, bytes);
    if (use == UNSET_IGNORED)
        return;
    own.may_be_used = use == UNSET_USED;
    own.copied = what == LOCAL_NEVER ? NULL : w->unset->local_from[what].in;
    const bool is_own = what == LOCAL_NEVER || (what == LOCAL_COPIED && own.may_be_used);
    unset_hold_elements(w, in, lane, bytes, is_own ? &own : &w->unset->local_from[what]);
}

void unset_local_load(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    struct vg_unset *u = w->unset;
    const uint32_t size = (uint32_t)in->bytes * in->vector;
    uint64_t address[VG_LANES], at;
    for (uint32_t k = 0; k < in->vector; k++)
        unset_drop(w, ptx_element_slot(w->frame->function, in, k, in->d), lanes);
    if (!u->local_count)
        return;
    proof_addresses(w, in, address);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint8_t what;
        const uint32_t bytes =
            unset_is_local(in, address[lane], &at) ? local_bytes(u, lane, at, size, &what) : 0;
        if (bytes)
            load_local(w, in, lane, address[lane], bytes, what);
    }
}
