#include "vgpu/exec/unset_moves.h"

#include "vgpu/exec/flows.h"
#include "vgpu/exec/lanes.h"
#include "vgpu/exec/unset_copies.h"
#include "vgpu/exec/unset_held.h"
#include "vgpu/exec/unset_values.h"
#include "vgpu/exec/vg_module.h"
#include "vgpu/ptx/ptx_decode.h"
#include "vgpu/ptx/ptx_flow.h"

#include <string.h>

void unset_overwrite(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const uint32_t *extra = w->frame->function->extra + in->extra;
    unset_drop(w, in->d, lanes);
    unset_drop(w, in->e, lanes);
    for (uint32_t i = 0; i < in->extras && in->op != IR_CALL && in->op != IR_BRX; i++)
        unset_drop(w, extra[i], lanes);
}

static void choose(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const struct unset_held *a = unset_find(w->unset, w->frame, in->a),
                            *b = unset_find(w->unset, w->frame, in->b);
    const struct unset_held *by = unset_find(w->unset, w->frame, in->c);
    const uint32_t chosen = *(const uint32_t *)(const void *)(w->regs + in->c);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const struct unset_held *h = chosen >> lane & 1 ? a : b;
        const uint8_t bytes = unset_held_bytes(h, lane);
        const struct unset_source from = bytes ? h->from[lane] : (struct unset_source){0};
        if (unset_usable_bytes(by, lane))
            unset_hold_result(w, in->d, lane, 0xff, &by->from[lane]);
        else
            unset_hold(w, in->d, lane, bytes, &from);
    }
}

/* and, or of predicates: false and anything is false. */
static void connect(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const struct unset_held *a = unset_find(w->unset, w->frame, in->a),
                            *b = unset_find(w->unset, w->frame, in->b);
    const uint32_t decides = in->op == IR_AND_PRED ? 0 : ~0u, of_a = unset_usable_lanes(a),
                   of_b = unset_usable_lanes(b);
    const uint32_t p = *(const uint32_t *)(const void *)(w->regs + in->a) ^ decides;
    const uint32_t q = *(const uint32_t *)(const void *)(w->regs + in->b) ^ decides;
    const uint32_t unset = (of_a & (of_b | q)) | (of_b & (of_a | p));
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const struct unset_source from = unset & of_a & left & -left   ? a->from[lane]
                                         : unset & of_b & left & -left ? b->from[lane]
                                                                       : (struct unset_source){0};
        unset_hold_result(w, in->d, lane, unset >> lane & 1, &from);
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
    const struct unset_held *a = unset_find(w->unset, w->frame, in->a),
                            *b = unset_find(w->unset, w->frame, in->b);
    const bool same = unset_is_copy(flow_of(w->block->launch->module, w->frame->function), in);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint64_t mask = mask_of(unset_held_bytes(a, lane));
        const struct unset_held *h = mask ? a : b;
        uint8_t bytes = bytes_of(mask) & (uint8_t)((1u << kept) - 1);
        if (in->op == IR_PRMT)
            bytes = bytes_of(lane_prmt((uint32_t)mask, (uint32_t)mask_of(unset_held_bytes(b, lane)),
                                       (uint32_t)value_of(w, in->c, lane, false)));
        else if (in->op == IR_AND_32 || in->op == IR_AND_64)
            bytes = bytes_of(mask & value_of(w, in->b, lane, in->op == IR_AND_64));
        else if (in->op == IR_SHR_U32 || in->op == IR_SHR_U64)
            bytes = bytes_of(shifted(mask, value_of(w, in->b, lane, false), false));
        else if (in->op == IR_SHL_32 || in->op == IR_SHL_64)
            bytes = bytes_of(shifted(mask, value_of(w, in->b, lane, false), true)) &
                    (uint8_t)((1u << kept) - 1);
        struct unset_source from = bytes ? h->from[lane] : (struct unset_source){0};
        from.computed |= !same;
        from.masked |= !same && (in->op == IR_AND_32 || in->op == IR_AND_64);
        unset_hold(w, in->d, lane, from.computed && !from.may_be_used ? 0 : bytes, &from);
    }
}

/* or, xor: they move bytes where the bytes of the other operand are zeros. */
static void merge(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const struct unset_held *a = unset_find(w->unset, w->frame, in->a),
                            *b = unset_find(w->unset, w->frame, in->b);
    const bool wide = in->op == IR_OR_64 || in->op == IR_XOR_64;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint8_t of_a = unset_held_bytes(a, lane), of_b = unset_held_bytes(b, lane);
        const uint64_t with_a = of_a ? value_of(w, in->b, lane, wide) & mask_of(of_a) : 0;
        const uint64_t with_b = of_b ? value_of(w, in->a, lane, wide) & mask_of(of_b) : 0;
        struct unset_source from = of_a   ? a->from[lane]
                                   : of_b ? b->from[lane]
                                          : (struct unset_source){0};
        if (of_a && of_b && b->from[lane].may_be_used)
            from = b->from[lane];
        from.computed |= with_a || with_b || of_a & of_b;
        unset_hold(w, in->d, lane, from.computed && !from.may_be_used ? 0 : of_a | of_b, &from);
    }
}

static void pack(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const uint32_t *parts = w->frame->function->extra + in->extra;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        struct unset_source from = {0};
        uint32_t bytes = 0;
        for (uint32_t k = 0; k < in->vector; k++) {
            const struct unset_held *a = unset_find(w->unset, w->frame, parts[k]);
            const uint32_t own = unset_held_bytes(a, lane) & ((1u << in->bytes) - 1);
            bytes |= own << k * in->bytes;
            if (own && !from.computed)
                from = a->from[lane];
        }
        unset_hold(w, in->d, lane, (uint8_t)bytes, &from);
    }
}

static void unpack(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const uint32_t *parts = w->frame->function->extra + in->extra;
    const struct unset_held *a = unset_find(w->unset, w->frame, in->a);
    const struct unset_held all = a ? *a : (struct unset_held){0}; /* a part may replace it */
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        for (uint32_t k = 0; k < in->vector; k++)
            unset_hold(
                w, parts[k], lane,
                (uint8_t)(unset_held_bytes(&all, lane) >> k * in->bytes & ((1u << in->bytes) - 1)),
                &all.from[lane]);
    }
}

void unset_shuffled(struct vg_warp *w, const struct ir_insn *in, const uint32_t from[])
{
    const struct unset_held *a = unset_find(w->unset, w->frame, in->a);
    const struct unset_held all = a ? *a : (struct unset_held){0}; /* d may be the same register */
    for (uint32_t left = w->mask; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint8_t bytes = w->mask >> from[lane] & 1 ? unset_held_bytes(&all, from[lane]) : 0;
        unset_hold(w, in->d, lane, bytes, &all.from[from[lane]]);
    }
    unset_drop(w, in->e, w->mask);
}

/* @return the bytes of a result that depend on some bytes of an operand. */
static uint8_t dependent(const struct vg_warp *w, const struct ir_insn *in, uint32_t lane,
                         uint8_t bytes)
{
    switch (in->op) {
    case IR_CVT_S64_S8:
    case IR_CVT_S32_S8:
    case IR_CVT_S16_S8:
        return bytes & 1 ? 0xff : 0;
    case IR_CVT_S64_S16:
    case IR_CVT_S32_S16:
        return bytes & 3 ? 0xff : 0;
    case IR_BFE_U32:
    case IR_BFE_S32:
        return lane_bfe(mask_of(bytes), (uint32_t)value_of(w, in->b, lane, false),
                        (uint32_t)value_of(w, in->c, lane, false), 32, false)
                   ? 0xff
                   : 0;
    default:
        if ((bytes & 3) && (bytes & 0xc))
            return 0xff;
        if (bytes && strstr(ir_rows[in->op].id, "X2")) /* two numbers of 16 bits */
            return bytes & 3 ? 3 : 0xc;
        return bytes ? 0xff : 0;
    }
}

/* @return the lanes in which the other operand of a comparison's "and" or "or" decides its result. */
static uint32_t decided(const struct vg_warp *w, const struct ir_insn *in)
{
    const uint32_t other = *(const uint32_t *)(const void *)(w->regs + in->c);
    if (!ptx_is_compare(in) || (in->boolean != BOOL_AND && in->boolean != BOOL_OR))
        return 0;
    return (in->boolean == BOOL_AND ? ~other : other) &
           ~unset_usable_lanes(unset_find(w->unset, w->frame, in->c));
}

/* An instruction that only computes: its results are unset where an operand is. */
static void compute(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const struct ir_function *f = w->frame->function;
    const struct unset_held *of[PTX_OPERANDS];
    int count = 0;
    struct ptx_operands o;
    struct ir_insn plain = *in;
    plain.guard = 0;
    ptx_flow_sources(flow_of(w->block->launch->module, f), &plain, &o);
    for (int i = 0; i < o.read_count; i++)
        if ((of[count] = unset_find(w->unset, w->frame, f->slots[o.reads[i]].offset)))
            count++;
    if (!count) {
        unset_overwrite(w, in, lanes);
        return;
    }
    const uint32_t defined = decided(w, in);
    uint32_t some = 0;
    for (int i = 0; i < count; i++)
        some |= of[i]->lanes;
    unset_drop(w, in->d, lanes & ~some);
    if (ptx_is_compare(in))
        unset_drop(w, in->e, lanes & ~some);
    for (uint32_t left = lanes & some; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        struct unset_source from = {0};
        uint8_t bytes = 0;
        for (int i = 0; i < count && !(defined >> lane & 1); i++) {
            const uint8_t own = dependent(w, in, lane, unset_usable_bytes(of[i], lane));
            if (own && !bytes)
                from = of[i]->from[lane];
            bytes |= own;
        }
        unset_hold_result(w, in->d, lane, bytes, &from);
        if (ptx_is_compare(in))
            unset_hold_result(w, in->e, lane, bytes, &from);
    }
}

bool unset_move(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes)
{
    const int kept = unset_bytes_kept(in);
    if (in->op == IR_SELP_32 || in->op == IR_SELP_64)
        choose(w, in, lanes);
    else if (in->op == IR_AND_PRED || in->op == IR_OR_PRED)
        connect(w, in, lanes);
    else if (in->op == IR_OR_32 || in->op == IR_OR_64 || in->op == IR_XOR_32 || in->op == IR_XOR_64)
        merge(w, in, lanes);
    else if (in->op == IR_PACK)
        pack(w, in, lanes);
    else if (in->op == IR_UNPACK)
        unpack(w, in, lanes);
    else if (kept &&
             (in->op == IR_PRMT || !unset_usable_lanes(unset_find(w->unset, w->frame, in->b))))
        move(w, in, lanes, kept);
    else if (ptx_flow_computes(in))
        compute(w, in, lanes);
    else
        return false;
    return true;
}
