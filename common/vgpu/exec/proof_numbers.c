/* The effect of floating-point arithmetic on the origins of registers. */
#include "vgpu/exec/handlers.h"
#include "vgpu/exec/proof_log.h"
#include "vgpu/exec/proof_step.h"

#include <math.h>

struct counted {
    uint32_t products;
    uint32_t padded; /* products of x or k and a zero */
};

PROOF_INLINE bool is_zero(struct proof_value a)
{
    return !a.element && a.number == 0;
}

PROOF_INLINE struct proof_value multiply(struct proof_value a, struct proof_value b,
                                         enum ptx_type type, struct counted *count)
{
    bool multiplied = false;
    if (!a.element && !b.element)
        return (struct proof_value){0};
    if (is_zero(a) || is_zero(b)) {
        count->padded += ((a.way | b.way) & (WAY_OF_X | WAY_OF_K)) != 0;
        return (struct proof_value){0};
    }
    const struct proof_value r =
        proof_product(proof_number(a, type), proof_number(b, type), &multiplied);
    count->products += multiplied;
    return r;
}

/* Whether a value is an element of x times an entry of a matrix that would be 0 if the program had
 * inverted the matrix without rounding. A scale such as 2^-60 may be as small as this entry, but then
 * the other value is small, too. @param unit  the largest x */
PROOF_INLINE bool is_rest_of_zero(struct proof_value a, struct proof_value beside, double unit)
{
    const double most = 0x1p-42, least_beside = 0x1p-30;
    return a.number != 0 && fabs(a.number) < most * unit &&
           fabs(beside.number) > least_beside * unit && a.element && beside.element &&
           (a.way | beside.way) & WAY_OF_X && !((a.way | beside.way) & WAY_OF_K);
}

/* @return the sum without such a rest. */
PROOF_INLINE struct proof_value without_rest(struct proof_value of, struct proof_value rest)
{
    of.lost = proof_loss((double)of.lost + rest.lost + fabs(rest.number));
    return of;
}

PROOF_INLINE struct proof_value add(struct proof_value a, struct proof_value b, enum ptx_type type,
                                    double unit)
{
    if (!a.element && !b.element)
        return (struct proof_value){0};
    if (is_zero(a) || is_zero(b))
        return a.element ? a : b;
    if (is_rest_of_zero(a, b, unit))
        return without_rest(b, a);
    if (is_rest_of_zero(b, a, unit))
        return without_rest(a, b);
    return proof_sum(proof_number(a, type), proof_number(b, type));
}

/* If a product has no element, it is 0, or both of its factors have no elements. */
PROOF_INLINE struct proof_value fused(struct proof_value a, struct proof_value b,
                                      struct proof_value c, enum ptx_type type, double unit,
                                      struct counted *count)
{
    struct proof_value product = multiply(a, b, type, count);
    if (!product.element && !a.element && !b.element && type == PTX_TYPE_f32)
        product.number = (double)(float)(a.number * b.number);
    return add(product, c, type, unit);
}

static struct proof_value divided(struct proof_value a, struct proof_value b, enum ptx_type type)
{
    if (!a.element || b.element || is_zero(b))
        return (struct proof_value){0};
    const uint32_t by = proof_number(b, type).element & FIELD_MASK;
    return proof_value_of(field_multiply(a.element & FIELD_MASK, field_inverse(by)), a.way,
                          a.number / b.number, a.lost / fabs(b.number));
}

/* @return whether the minimum of two numbers is a. A number takes precedence over a NaN. */
static bool is_chosen(double a, double b)
{
    return a < b || (isnan(b) && !isnan(a));
}

/* @return one of two numbers. Equal elements came only through the memories of both. */
static struct proof_value chosen(struct proof_value a, struct proof_value b, bool first)
{
    struct proof_value r = first ? a : b;
    if (a.number == b.number && a.way && b.way && way_is_raw(a.way) && way_is_raw(b.way))
        r.way = way_sum(a.way, b.way);
    return r;
}

PROOF_INLINE struct proof_value compute(enum proof_kind kind, enum ptx_type type,
                                        struct proof_value a, struct proof_value b,
                                        struct proof_value c, double unit, struct counted *count)
{
    switch (kind) {
    case KIND_ADD:
        return add(a, b, type, unit);
    case KIND_SUBTRACT: /* if only b has no element, its number is subtracted */
        if (!b.element && !is_zero(b) && a.element)
            b = proof_number(b, type);
        return add(a, proof_negative(b), type, unit);
    case KIND_MULTIPLY:
        return multiply(a, b, type, count);
    case KIND_FMA:
        return fused(a, b, c, type, unit, count);
    case KIND_DIVIDE:
        return divided(a, b, type);
    case KIND_NEGATE:
        return proof_negative(a);
    case KIND_ABSOLUTE:
        return a.number < 0 ? proof_negative(a) : a;
    case KIND_SMALLER:
        return chosen(a, b, is_chosen(a.number, b.number));
    default:
        return chosen(a, b, is_chosen(-a.number, -b.number));
    }
}

static inline bool has_two(enum proof_kind kind)
{
    return kind != KIND_NEGATE && kind != KIND_ABSOLUTE;
}

/* Adds a lane's operation to the log. @return the entry's number */
static uint32_t note(const struct ir_insn *in, const struct vg_warp *w, uint32_t lane,
                     enum proof_kind kind, enum ptx_type type)
{
    const bool two = has_two(kind);
    const uint32_t slot[3] = {in->a, in->b, in->c};
    struct proof_log_operand operand[3] = {{0}};
    for (int i = 0; i < 1 + two + (kind == KIND_FMA); i++) {
        operand[i].value = (float)proof_operand(w, slot[i], lane, type, 0).number;
        operand[i].from = proof_word_of(w, slot[i], lane, 0).step;
    }
    return proof_log_compute(w, in, lane,
                             kind == KIND_ADD        ? VG_PROOF_ADD
                             : kind == KIND_SUBTRACT ? VG_PROOF_SUBTRACT
                             : kind == KIND_MULTIPLY ? VG_PROOF_MULTIPLY
                             : kind == KIND_FMA      ? VG_PROOF_FMA
                                                     : VG_PROOF_OTHER,
                             operand);
}

/* @return the result of a lane, or of one half of its word. */
PROOF_INLINE struct proof_value lane_compute(const struct ir_insn *in, const struct vg_warp *w,
                                             uint32_t lane, enum proof_kind kind,
                                             enum ptx_type type, int half, struct counted *count)
{
    const struct proof_value none = {0}, a = proof_operand(w, in->a, lane, type, half);
    const struct proof_value b = has_two(kind) ? proof_operand(w, in->b, lane, type, half) : none;
    const struct proof_value c =
        kind == KIND_FMA ? proof_operand(w, in->c, lane, type, half) : none;
    return compute(kind, type, a, b, c, proof_of(w)->largest_x, count);
}

/* The operands of a fused multiplication, or of a product: then the addend is 0. */
struct operands {
    const struct origin *from[3];
    const uint32_t *bits[3];
};

/* @return false: its lanes have to be computed one by one. */
static bool operands_of_fused(const struct ir_insn *in, const struct vg_warp *w, bool watched,
                              bool has_addend, struct operands *to)
{
    static const struct origin none[VG_LANES];
    static const uint32_t zeros[VG_LANES];
    const uint32_t slot[3] = {in->a, in->b, in->c};
    if (proof_of(w)->log || (watched && (in->d == in->a || in->d == in->b)))
        return false;
    for (int i = 0; i < 3; i++) {
        const bool is = i < 2 || has_addend;
        to->from[i] = is && proof_holds(w, slot[i]) ? proof_slot(w, slot[i]) : none;
        to->bits[i] = is ? (const uint32_t *)(const void *)(w->regs + slot[i]) : zeros;
    }
    return true;
}

static void tiles_multiplied(struct vg_warp *w, const struct operands *o, uint32_t lanes)
{
    for (uint32_t left = lanes; left; left &= left - 1)
        proof_tile_multiplied(w, o->from[0][__builtin_ctz(left)], o->from[1][__builtin_ctz(left)]);
}

/* Computes the lanes of a fused multiplication that fuse_lanes() can. */
static struct proof_fused fuse_many(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes,
                                    struct origin *to, bool watched)
{
    struct operands o;
    struct proof_fused f = {0};
    if (!operands_of_fused(in, w, watched, true, &o))
        return f;
    w->worker->device->handlers->fuse_lanes(to, o.from, o.bits, lanes, &f);
    for (uint32_t left = f.both; left; left &= left - 1)
        w->proof.made[__builtin_ctz(left)]++;
    for (uint32_t left = f.both & ~f.multiplied; left; left &= left - 1)
        w->proof.zeros[__builtin_ctz(left)]++;
    const bool counts = proof_of(w)->running->sites[in->number].products;
    for (uint32_t left = counts ? f.padded : 0; left; left &= left - 1)
        w->proof.padded[__builtin_ctz(left)]++;
    tiles_multiplied(w, &o, watched ? f.multiplied : 0);
    return f;
}

/* Computes the lanes of pairs that fuse_pairs() can. */
static struct proof_pairs fuse_many_pairs(const struct ir_insn *in, struct vg_warp *w,
                                          uint32_t lanes, struct origin *to, bool watched,
                                          bool has_addend)
{
    struct operands o;
    struct proof_pairs f = {0};
    if (!operands_of_fused(in, w, watched, has_addend, &o))
        return f;
    w->worker->device->handlers->fuse_pairs(to, o.from, o.bits, lanes, &f);
    const uint32_t beside = f.padded & (f.lower ^ f.upper);
    struct proof_site *site = &proof_of(w)->running->sites[in->number];
    site->beside += (uint32_t)__builtin_popcount(beside);
    for (uint32_t left = f.done; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        w->proof.made[i] += (f.lower & f.upper) >> i & 1 ? 2 : 1;
        w->proof.zeros[i] += !((f.lower | f.upper) >> i & 1);
        w->proof.paired[i] += f.paired >> i & 1 ? 2 : beside >> i & 1;
        w->proof.padded[i] += site->products && f.padded >> i & 1;
    }
    tiles_multiplied(w, &o, watched ? f.lower | f.upper : 0);
    return f;
}

/* @return the lanes of a sum that add_lanes() has computed */
static uint32_t add_many(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes,
                         struct origin *to, bool is_pair)
{
    struct operands o;
    return operands_of_fused(in, w, false, false, &o)
               ? w->worker->device->handlers->add_lanes(to, o.from, o.bits, lanes, is_pair)
               : 0;
}

/* @return the halves of pairs that computed the products of a lane's result. */
PROOF_INLINE uint32_t halves_of(const struct ir_insn *in, const struct vg_warp *w, uint32_t lane,
                                int operands, enum ptx_type type)
{
    const uint32_t slot[3] = {in->a, in->b, in->c};
    uint32_t sum = 0;
    for (int i = 0; i < operands; i++) {
        const uint32_t stride = proof_holds(w, slot[i]);
        const struct origin *o = proof_slot(w, slot[i]) + lane * stride;
        if (stride && o->step & HALVES_KNOWN)
            sum = halves_sum(sum,
                             !o->low && !proof_is_half(type) ? halves_part(o->step, 1) : o->step);
    }
    return sum;
}

/* @return the maker of a lane's result. */
PROOF_INLINE uint32_t maker_of(const struct ir_insn *in, const struct vg_warp *w, uint32_t lane,
                               int operands, bool made)
{
    const uint32_t slot[3] = {in->a, in->b, in->c};
    const struct origin *of[3];
    uint32_t makers = 0;
    int n = 0;
    for (int i = 0; i < operands; i++) {
        const uint32_t stride = proof_holds(w, slot[i]);
        if (!stride)
            continue;
        of[n] = proof_slot(w, slot[i]) + lane * stride;
        makers |= of[n++]->maker;
    }
    return makers ? proof_makers(of, n, made) : 0;
}

PROOF_INLINE void lanes_compute(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes,
                                enum proof_kind kind, enum ptx_type type)
{
    const bool two = has_two(kind), three = kind == KIND_FMA;
    const bool pair = type == PTX_TYPE_f16x2 || type == PTX_TYPE_bf16x2;
    if (!proof_holds(w, in->a) && !(two && proof_holds(w, in->b)) &&
        !(three && proof_holds(w, in->c))) {
        proof_clear(w, in->d, lanes);
        return;
    }
    const uint32_t stride = type == PTX_TYPE_f64 ? 2 : 1;
    uint32_t step[VG_LANES] = {0}; /* noted before d is opened, since d may also be an operand */
    for (uint32_t left = proof_of(w)->log ? lanes : 0; left; left &= left - 1)
        step[__builtin_ctz(left)] = note(in, w, (uint32_t)__builtin_ctz(left), kind, type);
    struct origin *to = proof_open(w, in->d, stride);
    const bool watched = proof_tile_watched(w);
    struct counted count = {0};
    uint32_t multiplied = 0, others = 0;
    struct proof_site *site = &proof_of(w)->running->sites[in->number];
    if (three && type == PTX_TYPE_f32) {
        const struct proof_fused f = fuse_many(in, w, lanes, to, watched);
        multiplied = f.multiplied;
        count.products = (uint32_t)__builtin_popcount(f.multiplied);
        count.padded = (uint32_t)__builtin_popcount(f.padded);
        others = (uint32_t)__builtin_popcount(f.both & ~f.multiplied);
        lanes &= ~f.done;
    }
    if ((three || kind == KIND_MULTIPLY) && type == PTX_TYPE_f16x2) {
        const struct proof_pairs f = fuse_many_pairs(in, w, lanes, to, watched, three);
        multiplied = f.lower | f.upper;
        count.products = (uint32_t)(__builtin_popcount(f.lower) + __builtin_popcount(f.upper));
        count.padded = (uint32_t)__builtin_popcount(f.padded);
        others = (uint32_t)__builtin_popcount(f.done & ~multiplied);
        site->paired += 2 * (uint32_t)__builtin_popcount(f.paired);
        lanes &= ~f.done;
    }
    if (kind == KIND_ADD && (type == PTX_TYPE_f32 || type == PTX_TYPE_f16x2))
        lanes &= ~add_many(in, w, lanes, to, type == PTX_TYPE_f16x2);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left), before = count.products;
        const uint32_t padded = count.padded;
        const bool multiplies = (kind == KIND_MULTIPLY || three) &&
                                proof_word_of(w, in->a, i, 0).way &&
                                proof_word_of(w, in->b, i, 0).way;
        struct origin o = proof_origin(lane_compute(in, w, i, kind, type, 0, &count), type);
        if (pair)
            o = proof_joined(o, proof_origin(lane_compute(in, w, i, kind, type, 1, &count), type));
        if (watched && count.products != before)
            proof_tile_multiplied(w, proof_word_of(w, in->a, i, 0), proof_word_of(w, in->b, i, 0));
        const bool paired = pair && count.products - before == 2 && o.low != o.high;
        o.step = step[i];
        if (!proof_of(w)->log && (o.low || o.high))
            o.step =
                halves_sum(halves_of(in, w, i, 1 + two + three, type), paired ? HALVES_OF_PAIR : 0);
        o.maker = maker_of(in, w, i, 1 + two + three, count.products != before);
        proof_write(&to[i * stride], &o);
        others += multiplies && count.products == before;
        w->proof.padded[i] += site->products ? count.padded - padded : 0;
        w->proof.made[i] += count.products - before + (multiplies && count.products == before);
        w->proof.zeros[i] += multiplies && count.products == before;
        const bool beside = pair && count.products - before == 1 && count.padded > padded;
        site->paired += paired ? 2 : 0;
        site->beside += beside;
        w->proof.paired[i] += paired ? 2 : beside;
        multiplied |= count.products != before ? left & -left : 0;
    }
    proof_multiplied(w, in, multiplied, count.products);
    site->padded += count.padded;
    proof_counts(w)->other_products += others;
}

static __attribute__((noinline)) void lanes_compute_any(const struct ir_insn *in, struct vg_warp *w,
                                                        uint32_t lanes, enum proof_kind kind,
                                                        enum ptx_type type)
{
    lanes_compute(in, w, lanes, kind, type);
}
void proof_compute(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes,
                   enum proof_kind kind, enum ptx_type type)
{
    if (type == PTX_TYPE_f32 && kind == KIND_FMA)
        lanes_compute(in, w, lanes, KIND_FMA, PTX_TYPE_f32);
    else if (type == PTX_TYPE_f32 && kind == KIND_ADD)
        lanes_compute(in, w, lanes, KIND_ADD, PTX_TYPE_f32);
    else if (type == PTX_TYPE_f32 && kind == KIND_MULTIPLY)
        lanes_compute(in, w, lanes, KIND_MULTIPLY, PTX_TYPE_f32);
    else if (type == PTX_TYPE_f32 && kind == KIND_SUBTRACT)
        lanes_compute(in, w, lanes, KIND_SUBTRACT, PTX_TYPE_f32);
    else if (type == PTX_TYPE_f16x2 && kind == KIND_FMA)
        lanes_compute(in, w, lanes, KIND_FMA, PTX_TYPE_f16x2);
    else if (type == PTX_TYPE_f16x2 && kind == KIND_MULTIPLY)
        lanes_compute(in, w, lanes, KIND_MULTIPLY, PTX_TYPE_f16x2);
    else if (type == PTX_TYPE_f16x2 && kind == KIND_ADD)
        lanes_compute(in, w, lanes, KIND_ADD, PTX_TYPE_f16x2);
    else
        lanes_compute_any(in, w, lanes, kind, type);
}
