/* The effect of integer arithmetic on the origins of registers, for fixed point. An integer
 * converted from an element of x or k has its field element; if the element was multiplied by a
 * power of two before, so is the field element. Digits cut off count as loss. */
#include "vgpu/exec/proof_step.h"

#include <math.h>

static const struct {
    uint16_t op;
    uint8_t kind;
    uint8_t from, to; /* words of the factors, and of the result and an addend */
} rows[] = {{IR_SUB_32, KIND_SUBTRACT, 1, 1},     {IR_SUB_64, KIND_SUBTRACT, 2, 2},
            {IR_ADD_64, KIND_ADD, 2, 2},          {IR_NEG_S32, KIND_NEGATE, 1, 1},
            {IR_NEG_S64, KIND_NEGATE, 2, 2},      {IR_MUL_LO_32, KIND_MULTIPLY, 1, 1},
            {IR_MUL_LO_64, KIND_MULTIPLY, 2, 2},  {IR_MUL_WIDE_S32, KIND_MULTIPLY, 1, 2},
            {IR_MUL_HI_S32, KIND_MULTIPLY, 1, 1}, {IR_MAD_LO_32, KIND_FMA, 1, 1},
            {IR_MAD_LO_64, KIND_FMA, 2, 2},       {IR_MAD_WIDE_S32, KIND_FMA, 1, 2},
            {IR_SHR_S32, KIND_SHIFT, 1, 1},       {IR_SHR_S64, KIND_SHIFT, 2, 2},
            {IR_SHR_U64, KIND_SHIFT, 2, 2},       {IR_SHL_64, KIND_SHIFT, 2, 2}};

size_t proof_integer_rows(uint16_t *ops, size_t room)
{
    const size_t n = sizeof rows / sizeof *rows;
    for (size_t i = 0; i < n && i < room; i++)
        ops[i] = rows[i].op;
    return n < room ? n : room;
}

struct origin proof_rounded(struct origin a, uint32_t digits)
{
    if (!proof_other_digits(a) || digits < proof_other_digits(a))
        return a;
    a.low = a.high;
    a.high = 0;
    a.lost &= 0xffff0000;
    return a;
}

struct proof_value proof_shifted(struct proof_value a, int left)
{
    const double power = ldexp(1, left);
    if (!a.element)
        return a;
    return proof_value_of(field_multiply(a.element & FIELD_MASK, field_power_of_2(left)), a.way,
                          a.number * power, a.lost * power);
}

static struct proof_value integer_at(const struct vg_warp *w, uint32_t slot, uint32_t lane,
                                     uint32_t words)
{
    const enum ptx_type type = words == 2 ? PTX_TYPE_s64 : PTX_TYPE_s32;
    return proof_number(proof_operand(w, slot, lane, type, 0), type);
}

static struct proof_value compute(const struct ir_insn *in, const struct vg_warp *w, uint32_t lane,
                                  size_t row, uint32_t *count, uint32_t *others)
{
    const uint32_t from = rows[row].from, to = rows[row].to;
    struct proof_value a = integer_at(w, in->a, lane, from), b = {0}, product;
    bool multiplied = false;
    if (rows[row].kind == KIND_NEGATE)
        return proof_negative(a);
    if (rows[row].kind == KIND_SHIFT) {
        const int by = (int)(proof_bits_of(w, in->b, lane) & 63);
        if (in->op == IR_SHR_S32)
            a = proof_operand_of(proof_rounded(proof_word_of(w, in->a, lane, 0), (uint32_t)by),
                                 a.number, PTX_TYPE_s32, 0);
        return proof_shifted(a, in->op == IR_SHL_64 ? by : -by);
    }
    b = integer_at(w, in->b, lane, from);
    if (rows[row].kind == KIND_ADD)
        return proof_sum(a, b);
    if (rows[row].kind == KIND_SUBTRACT)
        return proof_sum(a, proof_negative(b));
    product = proof_product(a, b, &multiplied);
    *count += multiplied;
    *others += !multiplied && product.element != PROOF_ELEMENT && a.way && b.way;
    if (in->op == IR_MUL_HI_S32)
        return proof_shifted(product, -32);
    return rows[row].kind == KIND_FMA ? proof_sum(product, integer_at(w, in->c, lane, to))
                                      : product;
}

/* A shift of 64 bits by 32 moves a word if the words are numbers of their own, not one integer.
 * @return whether it is so, with the new words */
static bool moves_word(const struct ir_insn *in, const struct vg_warp *w, uint32_t lane, size_t row,
                       struct origin to[2])
{
    const struct origin low = proof_word_of(w, in->a, lane, 0),
                        high = proof_word_of(w, in->a, lane, 1);
    if (rows[row].kind != KIND_SHIFT || rows[row].to != 2 ||
        (proof_bits_of(w, in->b, lane) & 63) != 32)
        return false;
    if (in->op != IR_SHL_64) {
        to[0] = high;
        return high.low || high.high;
    }
    const double number = proof_operand(w, in->a, lane, PTX_TYPE_s64, 0).number;
    const double expected = (double)f32_of_bits(low.value);
    to[1] = low;
    return low.high || (low.low && fabs(number - expected) > fabs(expected));
}

/* A shift of 64 bits by a multiple of 16 moves halves if no word is one number.
 * @return whether it is so, with the new words */
static bool moves_halves(const struct ir_insn *in, const struct vg_warp *w, uint32_t lane,
                         size_t row, struct origin to[2])
{
    const struct origin a[2] = {proof_word_of(w, in->a, lane, 0), proof_word_of(w, in->a, lane, 1)};
    const int by = (int)(proof_bits_of(w, in->b, lane) & 63) / 16;
    struct origin half[12] = {{0}};
    if (rows[row].kind != KIND_SHIFT || rows[row].to != 2 || proof_bits_of(w, in->b, lane) % 16 ||
        proof_is_whole(a[0]) || proof_is_whole(a[1]))
        return false;
    for (int i = 0; i < 4; i++)
        half[4 + i] = proof_part(a[i / 2], i % 2);
    const struct origin *from = half + 4 + (in->op == IR_SHL_64 ? -by : by);
    for (int i = 0; i < 2; i++)
        to[i] = proof_joined(from[2 * i], from[2 * i + 1]);
    return true;
}

void proof_integer(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes, size_t row)
{
    const uint32_t stride = rows[row].to;
    if (!proof_holds(w, in->a) && !(rows[row].kind != KIND_SHIFT && proof_holds(w, in->b)) &&
        !(rows[row].kind == KIND_FMA && proof_holds(w, in->c))) {
        proof_clear(w, in->d, lanes);
        return;
    }
    struct origin o[2][VG_LANES] = {{{0}}};
    uint32_t count = 0, others = 0, multiplied = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left), before = count;
        struct origin words[2] = {{0}};
        if (!moves_halves(in, w, i, row, words) && !moves_word(in, w, i, row, words)) {
            words[0] = proof_origin(compute(in, w, i, row, &count, &others),
                                    stride == 2 ? PTX_TYPE_s64 : PTX_TYPE_s32);
            words[1] = (struct origin){0};
        }
        o[0][i] = words[0];
        o[1][i] = words[1];
        multiplied |= count != before ? left & -left : 0;
    }
    proof_clear(w, in->d, lanes);
    for (uint32_t word = 0; word < stride; word++)
        proof_put(w, in->d, lanes, o[word], stride, word);
    proof_multiplied(w, in, multiplied, count);
    proof_counts(w)->other_products += others;
}
