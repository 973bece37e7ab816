#include "vgpu/exec/unset_copies.h"

#include "vgpu/exec/clusters.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/flows.h"
#include "vgpu/exec/lanes.h"
#include "vgpu/exec/proof.h"
#include "vgpu/exec/unset_values.h"
#include "vgpu/exec/vg_module.h"
#include "vgpu/ptx/ptx_decode.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdlib.h>
#include <string.h>

enum { REGISTERS = 64 }; /* of a warp; bytes in more registers are taken for written */

/* The load that read a byte first. */
struct source {
    const struct ir_insn *in;
    uint64_t address;
    bool whole;
};

/* Unwritten bytes in a register. */
struct held {
    const struct vg_frame *frame;
    uint32_t slot, lanes;
    uint8_t bytes[VG_LANES]; /* a bit for each byte of the lane */
    struct source from[VG_LANES];
};

struct vg_unset {
    struct held held[REGISTERS];
    int count;
    /* Local memory: a bit for each byte; the lanes one after the other, `stride` bytes each. */
    uint8_t *local;
    size_t stride, local_room, local_count;
    struct source local_from; /* of the bytes stored last */
    /* The running instruction's stores to shared and to global memory. */
    uint32_t stores; /* lanes */
    uint64_t at[VG_LANES];
    uint32_t stored[VG_LANES]; /* a bit for each byte */
    struct source stored_from[VG_LANES];
};

static struct vg_unset *unset_of(struct vg_warp *w)
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
    u->count = 0;
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

/* ---- registers ------------------------------------------------------------------------------- */

static struct held *find(struct vg_unset *u, const struct vg_frame *frame, uint32_t slot)
{
    for (int i = 0; i < u->count; i++)
        if (u->held[i].slot == slot && u->held[i].frame == frame)
            return &u->held[i];
    return NULL;
}

static struct held *find_or_add(struct vg_unset *u, const struct vg_frame *frame, uint32_t slot)
{
    struct held *h = find(u, frame, slot);
    if (h || u->count == REGISTERS)
        return h;
    h = &u->held[u->count++];
    h->frame = frame;
    h->slot = slot;
    h->lanes = 0;
    memset(h->bytes, 0, sizeof h->bytes);
    return h;
}

static uint8_t held_bytes(const struct held *h, uint32_t lane)
{
    return h && h->lanes >> lane & 1 ? h->bytes[lane] : 0;
}

static void hold(struct vg_warp *w, uint32_t slot, uint32_t lane, uint8_t bytes,
                 const struct source *from)
{
    struct held *h =
        bytes && slot ? find_or_add(unset_of(w), w->frame, slot) : find(w->unset, w->frame, slot);
    if (!h)
        return;
    h->lanes = (h->lanes & ~(1u << lane)) | (uint32_t)(bytes != 0) << lane;
    h->bytes[lane] = bytes;
    if (bytes)
        h->from[lane] = *from;
    w->copies_unset |= bytes != 0;
}

static void drop(struct vg_warp *w, uint32_t slot, uint32_t lanes)
{
    struct held *h = find(w->unset, w->frame, slot);
    if (h)
        h->lanes &= ~lanes;
}

static void hold_elements(struct vg_warp *w, const struct ir_insn *in, uint32_t lane,
                          uint32_t bytes, const struct source *from)
{
    for (uint32_t k = 0; k < in->vector; k++, bytes >>= in->bytes)
        hold(w, ptx_element_slot(w->frame->function, in, k, in->d), lane,
             (uint8_t)(bytes & ((1u << in->bytes) - 1)), from);
}

void unset_loaded(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                  uint32_t bytes, bool whole)
{
    unset_of(w);
    hold_elements(w, in, (uint32_t)lane, bytes, &(struct source){in, address, whole});
}

/* ---- local memory ---------------------------------------------------------------------------- */

static bool local_has(const struct vg_unset *u, uint32_t lane, uint64_t at)
{
    return u->local[lane * u->stride + at / 8] >> at % 8 & 1;
}

static void local_put(struct vg_unset *u, uint32_t lane, uint64_t at, bool unset)
{
    uint8_t *const byte = &u->local[lane * u->stride + at / 8];
    const uint8_t bit = (uint8_t)(1u << at % 8);
    u->local_count += (size_t)unset - (*byte >> at % 8 & 1);
    *byte = unset ? *byte | bit : *byte & (uint8_t)~bit;
}

static void local_make(struct vg_unset *u, const struct vg_warp *w)
{
    if (u->local_count)
        return;
    u->stride = w->block->launch->local_stride / 8 + 1;
    if (u->local_room < VG_LANES * u->stride) {
        free(u->local);
        u->local_room = VG_LANES * u->stride;
        u->local = malloc(u->local_room);
        if (!u->local)
            abort();
    }
    memset(u->local, 0, VG_LANES * u->stride);
}

/* @return a bit for each of at most 32 bytes of a lane's local memory that is unwritten. */
static uint32_t local_bytes(const struct vg_unset *u, uint32_t lane, uint64_t at, uint32_t size)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < size && u->local_count && (at + i) / 8 < u->stride; i++)
        bytes |= (uint32_t)local_has(u, lane, at + i) << i;
    return bytes;
}

static void local_store(struct vg_warp *w, uint32_t lane, uint64_t at, uint32_t bytes,
                        uint32_t size, const struct source *from)
{
    struct vg_unset *u = w->unset;
    if (bytes)
        local_make(u, w);
    for (uint32_t i = 0; i < size && (bytes || u->local_count) && (at + i) / 8 < u->stride; i++)
        local_put(u, lane, at + i, bytes >> i & 1);
    if (bytes)
        u->local_from = *from;
}

void unset_local_copied(const struct vg_warp *w, uint32_t lanes, size_t to, size_t from,
                        size_t bytes)
{
    struct vg_unset *u = w->unset;
    for (uint32_t left = lanes; left && u->local_count; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        for (size_t k = 0; k < bytes; k++) {
            const size_t i = to > from ? bytes - 1 - k : k;
            local_put(u, lane, to + i, local_has(u, lane, from + i));
        }
    }
}

void unset_local_set(const struct vg_warp *w, uint32_t lanes, size_t at, size_t bytes)
{
    struct vg_unset *u = w->unset;
    for (uint32_t left = lanes; left && u->local_count; left &= left - 1)
        for (size_t i = 0; i < bytes && (at + i) / 8 < u->stride; i++)
            local_put(u, (uint32_t)__builtin_ctz(left), at + i, false);
}

static bool is_local(const struct ir_insn *in, uint64_t address, uint64_t *at)
{
    const bool in_window = address - VG_LOCAL_BASE < UINT64_C(1) << 40;
    *at = in_window ? address - VG_LOCAL_BASE : address;
    return in_window || in->space == PTX_SPACE_LOCAL ||
           (in->space == PTX_SPACE_PARAM && address < UINT64_C(1) << 32);
}

/* ---- before an instruction ------------------------------------------------------------------- */

static void load(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    struct vg_unset *u = w->unset;
    const uint32_t size = (uint32_t)in->bytes * in->vector;
    uint64_t address[VG_LANES], at;
    for (uint32_t k = 0; k < in->vector; k++)
        drop(w, ptx_element_slot(w->frame->function, in, k, in->d), lanes);
    if (!u->local_count)
        return;
    proof_addresses(w, in, address);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint32_t bytes =
            is_local(in, address[lane], &at) ? local_bytes(u, lane, at, size) : 0;
        if (!bytes)
            continue;
        const enum unset_use use =
            unset_value_use(w->block->launch->module, w->frame->function, in, bytes);
        if (use == UNSET_COPIED)
            hold_elements(w, in, lane, bytes, &u->local_from);
        else if (use == UNSET_USED)
            vg_find_unset_local(w, in, (int)lane, address[lane], size, u->local_from.in);
    }
}

static void store(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    struct vg_unset *u = w->unset;
    const struct held *held[8];
    uint64_t address[VG_LANES], at;
    uint32_t some = 0;
    for (uint32_t k = 0; k < in->vector; k++) {
        held[k] = find(u, w->frame, ptx_element_slot(w->frame->function, in, k, in->b));
        some |= held[k] ? held[k]->lanes & lanes : 0;
    }
    u->stores = 0;
    if (!some && !u->local_count)
        return;
    proof_addresses(w, in, address);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        struct source from = {0};
        uint32_t bytes = 0;
        for (uint32_t k = 0; k < in->vector; k++) {
            const uint32_t own = held_bytes(held[k], lane) & ((1u << in->bytes) - 1);
            bytes |= own << k * in->bytes;
            from = own ? held[k]->from[lane] : from;
        }
        if (is_local(in, address[lane], &at)) {
            local_store(w, lane, at, bytes, (uint32_t)in->bytes * in->vector, &from);
        } else if (bytes) {
            u->stores |= 1u << lane;
            u->at[lane] = address[lane];
            u->stored[lane] = bytes;
            u->stored_from[lane] = from;
        }
    }
}

static void choose(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const struct held *a = find(w->unset, w->frame, in->a), *b = find(w->unset, w->frame, in->b);
    const uint32_t chosen = *(const uint32_t *)(const void *)(w->regs + in->c);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const struct held *h = chosen >> lane & 1 ? a : b;
        const uint8_t bytes = held_bytes(h, lane);
        const struct source from = bytes ? h->from[lane] : (struct source){0};
        hold(w, in->d, lane, bytes, &from);
    }
}

static uint64_t mask_of(uint8_t bytes)
{
    uint64_t mask = 0;
    for (int i = 0; i < 8; i++)
        mask |= (bytes >> i & 1 ? UINT64_C(0xff) : 0) << 8 * i;
    return mask;
}

static uint8_t bytes_of(uint64_t mask)
{
    uint8_t bytes = 0;
    for (int i = 0; i < 8; i++)
        bytes |= (uint8_t)((mask >> 8 * i & 0xff) != 0) << i;
    return bytes;
}

static uint64_t value_of(const struct vg_warp *w, uint32_t slot, uint32_t lane, bool wide)
{
    const char *from = w->regs + slot;
    return wide ? ((const uint64_t *)(const void *)from)[lane]
                : ((const uint32_t *)(const void *)from)[lane];
}

static uint64_t shifted(uint64_t mask, uint64_t by, bool left)
{
    return by > 63 ? 0 : left ? mask << by : mask >> by;
}

static void move(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes, int kept)
{
    const struct held *a = find(w->unset, w->frame, in->a), *b = find(w->unset, w->frame, in->b);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint64_t mask = mask_of(held_bytes(a, lane));
        const struct held *h = mask ? a : b;
        uint8_t bytes = bytes_of(mask) & (uint8_t)((1u << kept) - 1);
        if (in->op == IR_PRMT)
            bytes = bytes_of(lane_prmt((uint32_t)mask, (uint32_t)mask_of(held_bytes(b, lane)),
                                       (uint32_t)value_of(w, in->c, lane, false)));
        else if (in->op == IR_AND_32 || in->op == IR_AND_64)
            bytes = bytes_of(mask & value_of(w, in->b, lane, in->op == IR_AND_64));
        else if (in->op == IR_SHR_U32 || in->op == IR_SHR_U64)
            bytes = bytes_of(shifted(mask, value_of(w, in->b, lane, false), false));
        else if (in->op == IR_SHL_32 || in->op == IR_SHL_64)
            bytes = bytes_of(shifted(mask, value_of(w, in->b, lane, false), true)) &
                    (uint8_t)((1u << kept) - 1);
        const struct source from = bytes ? h->from[lane] : (struct source){0};
        hold(w, in->d, lane, bytes, &from);
    }
}

static void pack(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const uint32_t *parts = w->frame->function->extra + in->extra;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        struct source from = {0};
        uint32_t bytes = 0;
        for (uint32_t k = 0; k < in->vector; k++) {
            const struct held *a = find(w->unset, w->frame, parts[k]);
            const uint32_t own = held_bytes(a, lane) & ((1u << in->bytes) - 1);
            bytes |= own << k * in->bytes;
            from = own ? a->from[lane] : from;
        }
        hold(w, in->d, lane, (uint8_t)bytes, &from);
    }
}

static void unpack(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const uint32_t *parts = w->frame->function->extra + in->extra;
    const struct held *a = find(w->unset, w->frame, in->a);
    const struct held all = a ? *a : (struct held){0}; /* a part may replace it */
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        for (uint32_t k = 0; k < in->vector; k++)
            hold(w, parts[k], lane,
                 (uint8_t)(held_bytes(&all, lane) >> k * in->bytes & ((1u << in->bytes) - 1)),
                 &all.from[lane]);
    }
}

void unset_shuffled(struct vg_warp *w, const struct ir_insn *in, const uint32_t from[])
{
    const struct held *a = find(w->unset, w->frame, in->a);
    const struct held all = a ? *a : (struct held){0}; /* d may be the same register */
    for (uint32_t left = w->mask; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint8_t bytes = w->mask >> from[lane] & 1 ? held_bytes(&all, from[lane]) : 0;
        hold(w, in->d, lane, bytes, &all.from[from[lane]]);
    }
    drop(w, in->e, w->mask);
}

/* Drops the registers that an instruction sets to other values. */
static void overwrite(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const uint32_t *extra = w->frame->function->extra + in->extra;
    drop(w, in->d, lanes);
    drop(w, in->e, lanes);
    for (uint32_t i = 0; i < in->extras && in->op != IR_CALL && in->op != IR_BRX; i++)
        drop(w, extra[i], lanes);
}

void unset_before(struct vg_warp *w, const struct ir_insn *in)
{
    const uint32_t lanes = proof_lanes(w, in);
    const int kept = unset_bytes_kept(in);
    w->unset->stores = 0;
    if (in->op == IR_LD)
        load(w, in, lanes);
    else if (in->op == IR_ST)
        store(w, in, lanes);
    else if (in->op == IR_SELP_32 || in->op == IR_SELP_64)
        choose(w, in, lanes);
    else if (in->op == IR_PACK)
        pack(w, in, lanes);
    else if (in->op == IR_UNPACK)
        unpack(w, in, lanes);
    else if (in->op == IR_SHFL)
        return; /* see unset_shuffled() */
    else if (kept)
        move(w, in, lanes, kept);
    else
        overwrite(w, in, lanes);
}

/* ---- after an instruction -------------------------------------------------------------------- */

static void unmark_shared(struct vg_warp *w, uint64_t at, uint32_t bytes, const struct source *from)
{
    struct vg_block *b = w->block;
    if (at >= VG_SHARED_BASE)
        at -= VG_SHARED_BASE;
    if (vg_shared_owner(b, &at) != b || at >= b->shared_bytes)
        return;
    if (!b->unset_copy) {
        b->unset_copy = from->in;
        free(b->copied);
        b->copied = calloc(b->shared_bytes / 8 + 1, 1);
        if (!b->copied)
            abort();
    }
    for (; bytes; bytes >>= 1, at++)
        if (bytes & 1) {
            b->shared_set[at / 4] &= (uint8_t) ~(1u << at % 4);
            b->copied[at / 8] |= (uint8_t)(1u << at % 8);
        }
}

void unset_delivered(struct vg_warp *w, const struct ir_insn *in, uint32_t at, uint32_t bytes)
{
    unmark_shared(w, at, bytes, &(struct source){.in = in});
}

/* Nothing wrote the 32 bytes around the source: this is not the padding of a structure. */
static void store_whole(struct vg_warp *w, int lane, const struct source *from)
{
    const uint32_t size = (uint32_t)from->in->bytes * from->in->vector;
    (from->address < VG_GLOBAL_BASE ? vg_find_unset_shared
                                    : vg_find_unset_global)(w, from->in, lane, from->address, size);
}

static void end_stores(struct vg_warp *w, const struct ir_insn *in)
{
    struct vg_unset *u = w->unset;
    for (uint32_t left = u->stores; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const struct source *from = &u->stored_from[lane];
        if (in->space == PTX_SPACE_SHARED || u->at[lane] < VG_GLOBAL_BASE)
            unmark_shared(w, u->at[lane], u->stored[lane], from);
        else if (from->whole)
            store_whole(w, lane, from);
        else
            vg_memory_unmark(w->worker->device, u->at[lane], u->stored[lane],
                             vg_line_of(w->block->launch->module, from->in));
    }
}

/* Forgets the registers that are not live where a block begins. */
static void drop_dead(struct vg_warp *w, const struct ir_insn *next)
{
    const struct ptx_flow *flow = flow_of(w->block->launch->module, w->frame->function);
    const uint64_t *live = flow->live + next->block * flow->words;
    for (int i = 0; i < w->unset->count; i++) {
        struct held *h = &w->unset->held[i];
        if (h->frame == w->frame && !ptx_set_has(live, flow->slot_of[h->slot / 4] - 1))
            h->lanes &= ~w->mask;
    }
}

void unset_after(struct vg_warp *w, const struct ir_insn *in, const struct ir_insn *next)
{
    struct vg_unset *u = w->unset;
    if (u->stores)
        end_stores(w, in);
    if (in->op == IR_CALL && next)
        for (int i = 0; i < u->count; i++) /* a new frame may have the memory of an old one */
            if (u->held[i].frame == w->frame && next == w->insns)
                u->held[i].lanes = 0;
    if (in->op == IR_BRA && next)
        drop_dead(w, next);
    for (int i = 0; i < u->count;)
        if (u->held[i].lanes)
            i++;
        else
            u->held[i] = u->held[--u->count];
    w->copies_unset = u->count > 0 || u->local_count > 0;
}
