/* What arithmetic on floating-point numbers does to the origins of registers. */
#include "vgpu/exec/float_bits.h"
#include "vgpu/exec/proof_log.h"
#include "vgpu/exec/proof_step.h"

#include <math.h>

static inline bool is_zero(struct proof_operand a, enum ptx_type type)
{
    return !a.v.element && proof_double(a.bits, type) == 0;
}

static inline struct proof_value multiply(struct proof_operand a, struct proof_operand b,
                                          enum ptx_type type, uint32_t *count)
{
    bool multiplied = false;
    if ((!a.v.element && !b.v.element) || is_zero(a, type) || is_zero(b, type))
        return (struct proof_value){0};
    const struct proof_value r = proof_product(proof_number(a.bits, type, a.v),
                                               proof_number(b.bits, type, b.v), &multiplied);
    *count += multiplied;
    return r;
}

static inline struct proof_value add(struct proof_operand a, struct proof_operand b,
                                     enum ptx_type type)
{
    if (!a.v.element && !b.v.element)
        return (struct proof_value){0};
    if (is_zero(a, type) || is_zero(b, type))
        return a.v.element ? a.v : b.v;
    return proof_sum(proof_number(a.bits, type, a.v), proof_number(b.bits, type, b.v));
}

/* A product that has no element is 0, or of two numbers that have none. */
static inline struct proof_value fused(struct proof_operand a, struct proof_operand b,
                                       struct proof_operand c, enum ptx_type type, uint32_t *count)
{
    struct proof_operand product = {.v = multiply(a, b, type, count)};
    if (!product.v.element && !a.v.element && !b.v.element && type == PTX_TYPE_f32)
        product.bits =
            bits_of_f32((float)(proof_double(a.bits, type) * proof_double(b.bits, type)));
    return add(product, c, type);
}

static struct proof_value divided(struct proof_operand a, struct proof_operand b,
                                  enum ptx_type type)
{
    if (!a.v.element || b.v.element || is_zero(b, type))
        return (struct proof_value){0};
    const uint32_t by = proof_number(b.bits, type, b.v).element & FIELD_PRIME;
    return proof_value_of(field_multiply(a.v.element & FIELD_PRIME, field_inverse(by)), a.v.way);
}

/* Whether a minimum is the first of two: not if that is a NaN. */
static bool is_chosen(double a, double b)
{
    return a < b || (isnan(b) && !isnan(a));
}

static inline struct proof_value compute(enum proof_kind kind, enum ptx_type type,
                                         struct proof_operand a, struct proof_operand b,
                                         struct proof_operand c, uint32_t *count)
{
    switch (kind) {
    case KIND_ADD:
        return add(a, b, type);
    case KIND_SUBTRACT:
        b.v = proof_negative(b.v);
        if (!b.v.element) /* the number itself is subtracted */
            b.v = is_zero(b, type) || !a.v.element
                      ? b.v
                      : proof_negative(proof_number(b.bits, type, b.v));
        return add(a, b, type);
    case KIND_MULTIPLY:
        return multiply(a, b, type, count);
    case KIND_FMA:
        return fused(a, b, c, type, count);
    case KIND_DIVIDE:
        return divided(a, b, type);
    case KIND_NEGATE:
        return proof_negative(a.v);
    case KIND_ABSOLUTE:
        return proof_double(a.bits, type) < 0 ? proof_negative(a.v) : a.v;
    case KIND_SMALLER:
        return is_chosen(proof_double(a.bits, type), proof_double(b.bits, type)) ? a.v : b.v;
    default:
        return is_chosen(-proof_double(a.bits, type), -proof_double(b.bits, type)) ? a.v : b.v;
    }
}

/* The step of a lane. */
static uint32_t note(const struct ir_insn *in, const struct vg_warp *w, uint32_t lane,
                     enum proof_kind kind, enum ptx_type type)
{
    const bool two = kind != KIND_NEGATE && kind != KIND_ABSOLUTE;
    const uint32_t slot[3] = {in->a, in->b, in->c};
    struct proof_log_operand operand[3] = {{0}};
    for (int i = 0; i < 1 + two + (kind == KIND_FMA); i++) {
        operand[i].value = (float)proof_double(proof_operand(w, slot[i], lane, type, 0).bits, type);
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

static inline __attribute__((always_inline)) void lanes_compute(const struct ir_insn *in,
                                                                struct vg_warp *w, uint32_t lanes,
                                                                enum proof_kind kind,
                                                                enum ptx_type type)
{
    const bool two = kind != KIND_NEGATE && kind != KIND_ABSOLUTE, three = kind == KIND_FMA;
    const bool pair = type == PTX_TYPE_f16x2 || type == PTX_TYPE_bf16x2;
    if (!proof_holds(w, in->a) && !(two && proof_holds(w, in->b)) &&
        !(three && proof_holds(w, in->c))) {
        proof_clear(w, in->d, lanes);
        return;
    }
    const uint32_t stride = type == PTX_TYPE_f64 ? 2 : 1;
    uint32_t step[VG_LANES] = {0}; /* before d, which may be an operand, is opened */
    for (uint32_t left = proof_of(w)->log ? lanes : 0; left; left &= left - 1)
        step[__builtin_ctz(left)] = note(in, w, (uint32_t)__builtin_ctz(left), kind, type);
    struct origin *to = proof_open(w, in->d, stride);
    const bool watched = proof_tile_watched(w);
    uint32_t count = 0, multiplied = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left), before = count;
        struct proof_value r[2] = {{0}};
        for (int half = 0; half <= pair; half++) {
            const struct proof_operand none = {{0}, 0}, a = proof_operand(w, in->a, i, type, half);
            const struct proof_operand b = two ? proof_operand(w, in->b, i, type, half) : none;
            const struct proof_operand c = three ? proof_operand(w, in->c, i, type, half) : none;
            r[half] = compute(kind, type, a, b, c, &count);
        }
        if (watched && count != before)
            proof_tile_multiplied(w, proof_word_of(w, in->a, i, 0), proof_word_of(w, in->b, i, 0));
        to[i * stride] =
            (struct origin){r[0].element, r[1].element, way_sum(r[0].way, r[1].way), step[i]};
        multiplied |= count != before ? left & -left : 0;
    }
    proof_multiplied(w, in, multiplied, count);
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
    else
        lanes_compute_any(in, w, lanes, kind, type);
}
