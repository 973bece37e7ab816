/* Moves, selections, conversions, operations on bits and shuffles, which carry the origins of
 * registers along. */
#include "vgpu/exec/control_flow.h"
#include "vgpu/exec/float_bits.h"
#include "vgpu/exec/handlers.h"
#include "vgpu/exec/proof_step.h"

#include <string.h>

/* Copies a to d word by word, for slots as wide as a. */
static void move(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    const uint32_t stride = w->frame->holds[in->a / 4];
    if (!stride) {
        proof_clear(w, in->d, lanes);
        return;
    }
    const struct origin *from = proof_slot(w, in->a);
    struct origin *to = proof_open(w, in->d, stride);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);
        memcpy(to + i * stride, from + i * stride, stride * sizeof *to);
    }
}

/* Lanes of the first mask take a, other lanes take b. */
static void choose(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes, uint32_t first)
{
    const uint32_t a = w->frame->holds[in->a / 4], b = w->frame->holds[in->b / 4];
    const uint32_t stride = a ? a : b;
    struct origin o[2][VG_LANES];
    if (!stride) {
        proof_clear(w, in->d, lanes);
        return;
    }
    for (uint32_t word = 0; word < stride; word++)
        for (uint32_t i = 0; i < VG_LANES; i++)
            o[word][i] = proof_word_of(w, first >> i & 1 ? in->a : in->b, i, word);
    for (uint32_t word = 0; word < stride; word++)
        proof_put(w, in->d, lanes, o[word], stride, word);
}

static uint32_t not_negative(const struct ir_insn *in, const struct vg_warp *w)
{
    uint32_t r = 0;
    for (uint32_t i = 0; i < VG_LANES; i++) {
        const uint32_t c = proof_bits_of(w, in->c, i);
        const bool is = in->type2 == PTX_TYPE_s32 ? (int32_t)c >= 0 : f32_of_bits(c) >= 0;
        r |= (uint32_t)is << i;
    }
    return r;
}

/* @return the origin of a half. The upper half of a float32 is a truncated bfloat16. If the upper
 * half of a pair has no element, it has no value either. */
static struct origin half_of(struct origin o, int half)
{
    if (half && proof_is_whole(o))
        o.high = o.low;
    return proof_part(o, half);
}

/* @return whether all lanes hold the same number with the same origin: then lane 0 stands for all. */
static bool has_one_origin(const struct vg_warp *w, uint32_t slot)
{
    const struct origin *o = proof_slot(w, slot);
    const uint32_t stride = proof_holds(w, slot), first = proof_bits_of(w, slot, 0);
    uint32_t odd = stride > 1;
    for (uint32_t i = 1; i < VG_LANES; i++)
        odd |= proof_bits_of(w, slot, i) ^ first;
    return !odd && (!stride || memcmp(o, o + 1, (VG_LANES - 1) * sizeof *o) == 0);
}

static void repeat(struct origin o[VG_LANES])
{
    for (uint32_t i = 1; i < VG_LANES; i++)
        o[i] = o[0];
}

static void pack(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    const uint32_t *parts = w->frame->function->extra + in->extra;
    const uint32_t stride = in->bytes * in->vector == 8 ? 2 : 1;
    struct origin o[2][VG_LANES];
    bool any = false, uniform = in->bytes < 4;
    for (uint32_t k = 0; k < in->vector; k++) {
        any |= proof_holds(w, parts[k]) != 0;
        uniform = uniform && has_one_origin(w, parts[k]);
    }
    if (!any || in->bytes < 2) {
        proof_clear(w, in->d, lanes);
        return;
    }
    for (uint32_t word = 0; word < stride; word++) {
        for (uint32_t i = 0; i < (uniform ? 1 : VG_LANES); i++)
            o[word][i] = in->bytes >= 4 ? proof_word_of(w, parts[word], i, 0)
                                        : proof_joined(proof_word_of(w, parts[2 * word], i, 0),
                                                       proof_word_of(w, parts[2 * word + 1], i, 0));
        if (uniform)
            repeat(o[word]);
    }
    for (uint32_t word = 0; word < stride; word++)
        proof_put(w, in->d, lanes, o[word], stride, word);
}

static void unpack(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    const uint32_t *parts = w->frame->function->extra + in->extra;
    const uint32_t n = in->vector < 8 ? in->vector : 8;
    struct origin o[8][VG_LANES];
    if (!proof_holds(w, in->a) || in->bytes < 2) {
        for (uint32_t k = 0; k < n; k++)
            if (parts[k])
                proof_clear(w, parts[k], lanes);
        return;
    }
    for (uint32_t k = 0; k < n; k++) /* (a part may be a) */
        for (uint32_t i = 0; i < VG_LANES; i++)
            o[k][i] = in->bytes >= 4 ? proof_word_of(w, in->a, i, k)
                                     : half_of(proof_word_of(w, in->a, i, k / 2), (int)(k & 1));
    for (uint32_t k = 0; k < n; k++)
        if (parts[k])
            proof_put(w, parts[k], lanes, o[k], 1, 0);
}

/* Joins two values of 64 bits to one of 128 bits, or splits one (@p unpacks). */
static void pack_128(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes, bool unpacks)
{
    const uint32_t *parts = w->frame->function->extra + in->extra;
    struct origin o[4][VG_LANES];
    for (uint32_t word = 0; word < 4; word++)
        for (uint32_t i = 0; i < VG_LANES; i++)
            o[word][i] = unpacks ? proof_word_of(w, in->a, i, word)
                                 : proof_word_of(w, parts[word / 2], i, word % 2);
    for (uint32_t word = 0; word < 4; word++) {
        if (!unpacks)
            proof_put(w, in->d, lanes, o[word], 4, word);
        else if (parts[word / 2])
            proof_put(w, parts[word / 2], lanes, o[word], 2, word % 2);
    }
}

/* Converts between types of integers, which keeps their bits: copies the words that both registers
 * have, or the lower half of a word. */
static void resize(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes, int from, int to)
{
    struct origin o[2][VG_LANES] = {{{0}}};
    for (uint32_t word = 0; word < 2 && 4 * (int)word < from && 4 * (int)word < to; word++)
        for (uint32_t i = 0; i < VG_LANES; i++) {
            o[word][i] = proof_word_of(w, in->a, i, word);
            if (to == 2 && from > 2)
                o[word][i] = half_of(o[word][i], 0);
        }
    proof_clear(w, in->d, lanes);
    for (uint32_t word = 0; word <= (to == 8); word++)
        proof_put(w, in->d, lanes, o[word], to == 8 ? 2 : 1, word);
}

PROOF_INLINE void convert_numbers(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes,
                                  enum ptx_type to, enum ptx_type from)
{
    const bool is_single = proof_holds(w, in->a) == 1;
    struct origin o[VG_LANES];
    uint32_t left = VG_FULL;
    if (is_single)
        left &= ~w->worker->device->handlers->convert_lanes(
            o, proof_slot(w, in->a), (const uint32_t *)(const void *)(w->regs + in->a),
            to == PTX_TYPE_f16);
    for (; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);
        const struct origin a = proof_word_of(w, in->a, i, 0);
        o[i] = proof_origin(proof_operand(w, in->a, i, from, 0), to);
        o[i].step = a.step;
        o[i].maker = a.maker;
    }
    proof_put(w, in->d, lanes, o, 1, 0);
}

/* Converts between types of numbers. */
static void convert(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    const enum ptx_type to = (enum ptx_type)in->type, from = (enum ptx_type)in->type2;
    const bool to_float = ptx_type_is_float(to), from_float = ptx_type_is_float(from);
    const int to_bytes = ptx_type_bytes(to), from_bytes = ptx_type_bytes(from);
    const bool follows = (from_float || from_bytes >= 4) && (to_float || to_bytes >= 4);
    if (!proof_holds(w, in->a)) {
        proof_clear(w, in->d, lanes);
        return;
    }
    if (to == PTX_TYPE_f16 && from == PTX_TYPE_f32) {
        convert_numbers(in, w, lanes, PTX_TYPE_f16, PTX_TYPE_f32);
        return;
    }
    if (to == PTX_TYPE_f32 && from == PTX_TYPE_f16) {
        convert_numbers(in, w, lanes, PTX_TYPE_f32, PTX_TYPE_f16);
        return;
    }
    if (!to_float && !from_float && to_bytes > 1 && from_bytes > 1) {
        resize(in, w, lanes, from_bytes, to_bytes);
        return;
    }
    struct origin o[VG_LANES] = {{0}};
    for (uint32_t i = 0; i < VG_LANES && follows; i++) {
        o[i] = proof_origin(proof_operand(w, in->a, i, from, 0), to);
        o[i].step = proof_word_of(w, in->a, i, 0).step;
        o[i].maker = proof_word_of(w, in->a, i, 0).maker;
    }
    proof_clear(w, in->d, lanes);
    proof_put(w, in->d, lanes, o, to_bytes == 8 ? 2 : 1, 0);
}

static void convert_pair(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    struct origin o[VG_LANES] = {{0}};
    const enum ptx_type type = in->op == IR_CVT_F16X2_F32    ? PTX_TYPE_f16x2
                               : in->op == IR_CVT_BF16X2_F32 ? PTX_TYPE_bf16x2
                                                             : (enum ptx_type)in->type;
    const bool uniform = has_one_origin(w, in->a) && has_one_origin(w, in->b);
    for (uint32_t i = 0; i < (uniform ? 1 : VG_LANES) && proof_is_half(type); i++)
        o[i] = proof_joined(proof_origin(proof_operand(w, in->b, i, PTX_TYPE_f32, 0), type),
                            proof_origin(proof_operand(w, in->a, i, PTX_TYPE_f32, 0), type));
    if (uniform)
        repeat(o);
    proof_put(w, in->d, lanes, o, 1, 0);
}

/* ---- numbers as bits ------------------------------------------------------------------------- */

/* @return whether a mask keeps a float32's sign, exponent, and upper bits of its fraction. */
static bool cuts_fraction(uint32_t mask)
{
    return mask >= 0xff800000u && (mask | (mask - 1)) == 0xffffffffu;
}

/* @return the origin of a word to whose lower half a number other than 0 was added. */
static struct origin with_other_digits(struct origin a, uint32_t number)
{
    uint32_t digits = 32 - (uint32_t)__builtin_clz(number);
    if (proof_other_digits(a))
        digits = 1 + (digits > proof_other_digits(a) ? digits : proof_other_digits(a));
    else if (!proof_is_whole(a))
        return proof_joined((struct origin){0}, half_of(a, 1));
    a.high |= a.low;
    a.low = 0;
    a.lost = ((a.lost + 0xffff) & 0xffff0000) | digits;
    return a;
}

static struct origin masked(struct origin a, uint32_t mask)
{
    if (cuts_fraction(mask))
        a = proof_rounded(a, (uint32_t)__builtin_ctz(mask));
    const bool is_pair = a.high || (a.low && !proof_is_whole(a));
    if (mask == 0xffff)
        return half_of(a, 0);
    if (mask == 0xffff0000u && is_pair)
        return proof_joined((struct origin){0}, half_of(a, 1));
    return cuts_fraction(mask) ? a : (struct origin){0};
}

/* @return the origin of a permutation of the halves of a (bytes 0 to 3) and b (4 to 7). */
static struct origin selected(struct origin a, struct origin b, uint32_t selector)
{
    struct origin r[2] = {{0}};
    for (int half = 0; half < 2; half++) {
        const uint32_t low = selector >> 8 * half & 0xf, high = selector >> (8 * half + 4) & 0xf;
        if (!(low & 1) && high == low + 1 && low < 8)
            r[half] = half_of(low < 4 ? a : b, low >> 1 & 1);
    }
    return proof_joined(r[0], r[1]);
}

/* @return the origin of a sum of integers. */
static struct origin sum(struct origin a, struct origin b, uint32_t a_bits, uint32_t b_bits)
{
    const enum ptx_type type = PTX_TYPE_s32;
    return proof_origin(
        proof_sum(proof_number(proof_operand_of(a, (int32_t)a_bits, type, 0), type),
                  proof_number(proof_operand_of(b, (int32_t)b_bits, type, 0), type)),
        type);
}

static struct origin shifted(struct origin a, uint32_t bits, uint32_t by)
{
    const struct proof_value v = proof_operand_of(a, (int32_t)bits, PTX_TYPE_s32, 0);
    struct origin o = proof_origin(proof_shifted(v, (int)(by & 31)), PTX_TYPE_s32);
    o.step = a.step;
    return o;
}

/* @return the origin with the opposite sign. */
static struct origin turned(struct origin a)
{
    if (a.low)
        a.low = PROOF_ELEMENT | field_negative(a.low & FIELD_MASK);
    a.high = 0;
    a.value ^= 0x80000000u;
    return a.low ? a : (struct origin){.step = a.step};
}

/* @return the bits of a word that belong to its elements. */
static uint32_t own_bits(struct origin o)
{
    const uint32_t low = o.low ? 0xffff : 0, high = o.high ? 0xffff0000 : 0;
    return low && proof_is_whole(o) ? 0xffffffff : low | high;
}

/* @return the union of two words, if neither sets bits of the other's elements. */
static struct origin united(struct origin a, struct origin b, uint32_t a_bits, uint32_t b_bits)
{
    const bool one = !(a.low || a.high) || !(b.low || b.high);
    const uint32_t of_a = one ? 0xffffffff : own_bits(a), of_b = one ? of_a : ~of_a;
    if ((own_bits(a) & b_bits) | (own_bits(b) & a_bits))
        return (struct origin){0};
    return (struct origin){.low = a.low ? a.low : b.low,
                           .high = a.high ? a.high : b.high,
                           .way = way_sum(a.way, b.way),
                           .value = (a.value & of_a) | (b.value & of_b),
                           .lost = (a.lost & of_a) | (b.lost & of_b)};
}

/* Shifts the words b and a, as one number with a in its lower half. */
static struct origin funnel(struct origin a, struct origin b, uint32_t by, bool is_left)
{
    const struct origin none = {0};
    return by == 16 ? selected(a, b, 0x5432) : by % 32 ? none : (by == 0) == is_left ? b : a;
}

/* Inserts the lower half of a into b. */
static struct origin insert_half(struct origin a, struct origin b, uint32_t at, uint32_t bits)
{
    const struct origin none = {0};
    return bits != 16 || at % 16 || at > 16 ? none : selected(a, b, at ? 0x1054 : 0x7610);
}

/* Handles integer instructions that split, pack, negate or round numbers. */
static struct origin by_bits(const struct ir_insn *in, struct origin a, struct origin b,
                             uint32_t a_bits, uint32_t b_bits, uint32_t c_bits, uint32_t e_bits)
{
    const bool both = (a.low || a.high) && (b.low || b.high);
    const struct origin none = {0}, one = a.low || a.high ? a : b;
    const uint32_t other = a.low || a.high ? b_bits : a_bits;
    switch (in->op) {
    case IR_AND_32:
        return both ? none : masked(one, other);
    case IR_OR_32:
        return united(a, b, a_bits, b_bits);
    case IR_XOR_32:
        return both || other != 0x80000000u ? none : turned(one);
    case IR_ADD_32:
        if (both || other > 0xffff)
            return sum(a, b, a_bits, b_bits);
        return other ? with_other_digits(one, other) : one;
    case IR_SHL_32:
        return b_bits == 16 ? proof_joined(none, half_of(a, 0)) : shifted(a, a_bits, b_bits);
    case IR_SHR_U32:
        return b_bits == 16 ? half_of(a, 1) : none;
    case IR_SHF_L_WRAP:
    case IR_SHF_R_WRAP:
        return funnel(a, b, c_bits & 31, in->op == IR_SHF_L_WRAP);
    case IR_SHF_L_CLAMP:
    case IR_SHF_R_CLAMP:
        return funnel(a, b, c_bits > 32 ? 32 : c_bits, in->op == IR_SHF_L_CLAMP);
    case IR_BFI_32:
        return insert_half(a, b, c_bits, e_bits);
    case IR_BFE_U32:
        return c_bits == 16 && (b_bits == 0 || b_bits == 16) ? half_of(a, b_bits == 16) : none;
    default:
        return selected(a, b, c_bits);
    }
}

static void bits(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    struct origin o[VG_LANES] = {{0}};
    if (!proof_holds(w, in->a) && !proof_holds(w, in->b)) {
        proof_clear(w, in->d, lanes);
        return;
    }
    for (uint32_t i = 0; i < VG_LANES; i++)
        o[i] = by_bits(in, proof_word_of(w, in->a, i, 0), proof_word_of(w, in->b, i, 0),
                       proof_bits_of(w, in->a, i), proof_bits_of(w, in->b, i),
                       proof_bits_of(w, in->c, i), proof_bits_of(w, in->e, i));
    proof_put(w, in->d, lanes, o, 1, 0);
}

/* @return a word of the result if words or halves of a were inserted into b. */
static struct origin inserted(const struct ir_insn *in, const struct vg_warp *w, uint32_t lane,
                              uint32_t word)
{
    const uint32_t at = proof_bits_of(w, in->c, lane), bits = proof_bits_of(w, in->e, lane);
    uint32_t slot[2], half[2];
    if (bits % 16 || at % 16)
        return (struct origin){0};
    for (uint32_t i = 0; i < 2; i++) {
        const bool of_a = 32 * word + 16 * i - at < bits;
        slot[i] = of_a ? in->a : in->b;
        half[i] = 2 * word + i - (of_a ? at / 16 : 0);
    }
    const struct origin low = proof_word_of(w, slot[0], lane, half[0] / 2),
                        high = proof_word_of(w, slot[1], lane, half[1] / 2);
    return slot[0] == slot[1] && half[0] % 2 == 0
               ? low
               : proof_joined(half_of(low, half[0] % 2), half_of(high, half[1] % 2));
}

/* Handles instructions on the bits of two words. */
static void wide_bits(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    struct origin o[2][VG_LANES] = {{{0}}};
    if (!proof_holds(w, in->a) && !proof_holds(w, in->b)) {
        proof_clear(w, in->d, lanes);
        return;
    }
    for (uint32_t i = 0; i < VG_LANES; i++)
        for (uint32_t word = 0; word < 2; word++) {
            const struct origin a = proof_word_of(w, in->a, i, word),
                                b = proof_word_of(w, in->b, i, word);
            const bool of_a = a.low || a.high, of_b = b.low || b.high;
            const uint32_t *a_bits = (const uint32_t *)(const void *)(w->regs + in->a),
                           *b_bits = (const uint32_t *)(const void *)(w->regs + in->b);
            if (in->op == IR_BFI_64)
                o[word][i] = inserted(in, w, i, word);
            else if (in->op == IR_OR_64)
                o[word][i] = united(a, b, a_bits[2 * i + word], b_bits[2 * i + word]);
            else if (of_a != of_b)
                o[word][i] = masked(of_a ? a : b, (of_a ? b_bits : a_bits)[2 * i + word]);
        }
    proof_clear(w, in->d, lanes);
    for (uint32_t word = 0; word < 2; word++)
        proof_put(w, in->d, lanes, o[word], 2, word);
}

/* ---- between lanes --------------------------------------------------------------------------- */

static void shuffle(const struct ir_insn *in, struct vg_warp *w)
{
    uint32_t all;
    struct origin o[VG_LANES] = {{0}};
    if (!vg_gather_complete(w, in, &all))
        return;
    for (uint32_t left = all; left; left &= left - 1) {
        const int lane = __builtin_ctz(left),
                  b = (int)(proof_bits_of(w, in->b, (uint32_t)lane) & 31);
        const int c = (int)proof_bits_of(w, in->c, (uint32_t)lane), segment = c >> 8 & 31;
        const int low = lane & segment, high = low | (c & 31 & ~segment);
        int from = in->sub == SUB_UP     ? lane - b
                   : in->sub == SUB_DOWN ? lane + b
                   : in->sub == SUB_BFLY ? lane ^ b
                                         : low | (b & ~segment);
        if (in->sub == SUB_UP ? from < high : from > high)
            from = lane;
        if (all >> (from & 31) & 1)
            o[lane] = proof_word_of(w, in->a, (uint32_t)from & 31, 0);
        if (from != lane) {
            const bool is_element = o[lane].way && way_is_raw(o[lane].way);
            proof_counts(w)->exchanged += is_element;
            w->proof.loaded[lane] += is_element;
            proof_hand_out(w, from & 31, &o[lane]);
        }
        proof_take_in(w, lane, &o[lane]);
    }
    proof_put(w, in->d, all, o, 1, 0);
}
void proof_move(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes, enum proof_kind kind)
{
    switch (kind) {
    case KIND_MOVE:
        move(in, w, lanes);
        break;
    case KIND_SELECT:
        choose(in, w, lanes, *(const uint32_t *)(const void *)(w->regs + in->c));
        break;
    case KIND_SELECT_SIGN:
        choose(in, w, lanes, not_negative(in, w));
        break;
    case KIND_PACK:
        pack(in, w, lanes);
        break;
    case KIND_UNPACK:
        unpack(in, w, lanes);
        break;
    case KIND_PACK_128:
        pack_128(in, w, lanes, false);
        break;
    case KIND_UNPACK_128:
        pack_128(in, w, lanes, true);
        break;
    case KIND_CONVERT:
        convert(in, w, lanes);
        break;
    case KIND_PAIR:
        convert_pair(in, w, lanes);
        break;
    case KIND_SHUFFLE:
        shuffle(in, w);
        break;
    case KIND_WIDE_BITS:
        wide_bits(in, w, lanes);
        break;
    default:
        bits(in, w, lanes);
        break;
    }
}
