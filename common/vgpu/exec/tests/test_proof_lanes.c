/* Compares the operations on many lanes of each instruction set with the same ones on single lanes. */
#include "each_target.h"

#include "base/rng.h"
#include "vgpu/exec/proof.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { ROUNDS = 4000 };

static struct origin element(struct rng *rng, uint64_t way, float number)
{
    const uint32_t e = rng_range(rng, 0, 5) ? (uint32_t)rng_range(rng, 1, 1 << 29) : 0;
    return (struct origin){.low = PROOF_ELEMENT | e,
                           .way = way,
                           .step = (uint32_t)rng_range(rng, 0, 2),
                           .value = bits_of_f32(number),
                           .lost = bits_of_f32(rng_range(rng, 0, 1) ? 0 : 1e-6f)};
}

/* Makes an operand of the usual case: an element that has lost nothing, or a sum. */
static struct origin usual(struct rng *rng, int which, uint32_t *bits)
{
    const float number = (float)rng_range(rng, -999, 999) * 0x1p-6f;
    struct origin o = element(rng,
                              which == 2 ? WAY_OF_X | WAY_OF_K | (uint64_t)rng_range(rng, 1, 1030)
                              : which    ? WAY_OF_K | WAY_ONE(WAY_K_CONST)
                                         : WAY_OF_X | WAY_ONE(WAY_X_SHARED),
                              number);
    *bits = o.value;
    if (which < 2)
        o.lost = 0;
    else if (rng_range(rng, 0, 3) == 0)
        *bits ^= 1;
    else if (rng_range(rng, 0, 9) == 0)
        o = (struct origin){.low = *bits = 0};
    return o;
}

/* Makes an operand: mostly an element of x or k, or a sum; otherwise a number without an origin, or
 * something that fuse_lanes() cannot do. */
static struct origin operand(struct rng *rng, int which, uint32_t *bits)
{
    const int kind = rng_range(rng, 0, 9);
    const uint64_t raw =
        which ? WAY_OF_K | WAY_ONE(WAY_K_SHARED) : WAY_OF_X | WAY_ONE(WAY_X_SHARED);
    const uint64_t sum =
        WAY_OF_X | WAY_OF_K | WAY_ONE(WAY_K_SHARED) * (uint64_t)rng_range(rng, 0, 9);
    float number = (float)rng_range(rng, -999, 999) * (rng_range(rng, 0, 9) ? 0x1p-6f : 0x1p-80f);
    struct origin o = {0};
    if (kind < 6)
        o = element(rng, which == 2 ? sum + (uint64_t)rng_range(rng, 1, WAY_MOST) : raw, number);
    else if (kind == 6)
        o = element(rng, sum + 1, number);
    else if (kind < 9)
        number = kind == 7 ? 0 : number;
    else
        o = (struct origin){.low = PROOF_ELEMENT | 3, .high = PROOF_ELEMENT | 5, .way = raw};
    *bits = bits_of_f32(rng_range(rng, 0, 9) ? number : number + 1e-3f);
    return o;
}

static bool is_known(struct origin o)
{
    return o.low && !o.high;
}

static bool is_nothing(struct origin o, uint32_t bits)
{
    return !o.low && !o.high && !(bits << 1);
}

/* @return whether fuse_lanes() must compute a lane; then its result. */
static bool computes(const struct origin o[3], const uint32_t bits[3], struct origin *to)
{
    struct proof_value v[3];
    bool multiplied;
    for (int i = 0; i < 3; i++)
        v[i] = proof_operand_of(o[i], (double)f32_of_bits(bits[i]), PTX_TYPE_f32, 0);
    const bool nothing =
        (is_nothing(o[0], bits[0]) && (is_known(o[1]) || is_nothing(o[1], bits[1]))) ||
        (is_nothing(o[1], bits[1]) && is_known(o[0]));
    const bool factors = is_known(o[0]) && is_known(o[1]) && way_multiplies(o[0].way, o[1].way);
    const bool none = is_nothing(o[2], bits[2]);
    struct proof_value r = v[2];
    if (factors) {
        r = proof_product(v[0], v[1], &multiplied);
        r = none ? r : proof_sum(r, v[2]);
    }
    *to = proof_origin(r, PTX_TYPE_f32);
    return (factors || nothing) && (none || is_known(o[2]));
}

/* @return whether two numbers differ at most by a few roundings to float32 */
static bool is_near(uint32_t a, uint32_t b)
{
    const double p = (double)f32_of_bits(a), q = (double)f32_of_bits(b);
    return fabs(p - q) <= 0x1p-21 * fabs(q);
}

static bool is_same(struct origin a, struct origin b)
{
    return a.low == b.low && a.high == b.high && a.way == b.way && is_near(a.value, b.value) &&
           is_near(a.lost, b.lost) && a.step == b.step;
}

static void compare(const struct vg_handlers *handlers, const char *name)
{
    const uint64_t seed = rng_fresh_seed();
    struct rng rng = rng_make(seed, 1);
    size_t computed = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct origin o[3][VG_LANES], d[VG_LANES], expected;
        uint32_t bits[3][VG_LANES];
        struct proof_fused f;
        for (int lane = 0; lane < VG_LANES; lane++) {
            for (int i = 0; i < 3; i++)
                o[i][lane] = (round % 2 && rng_range(&rng, 0, 99) ? usual : operand)(
                    &rng, i, &bits[i][lane]);
            d[lane] = (struct origin){.low = 77};
        }
        const uint32_t lanes = rng_range(&rng, 0, 1) ? UINT32_MAX : (uint32_t)rng_u64(&rng);
        handlers->fuse_lanes(d, (const struct origin *const[]){o[0], o[1], o[2]},
                             (const uint32_t *const[]){bits[0], bits[1], bits[2]}, lanes, &f);
        for (int lane = 0; lane < VG_LANES; lane++) {
            const struct origin of[3] = {o[0][lane], o[1][lane], o[2][lane]};
            const uint32_t with[3] = {bits[0][lane], bits[1][lane], bits[2][lane]};
            const bool wanted = lanes >> lane & 1, can = computes(of, with, &expected) && wanted;
            const bool both = can && is_known(of[0]) && is_known(of[1]);
            const uint32_t product = field_multiply(of[0].low & FIELD_MASK, of[1].low & FIELD_MASK);
            cr_assert_eq(f.done >> lane & 1, can, "%s: seed %llu, round %d, lane %d", name,
                         (unsigned long long)seed, round, lane);
            cr_assert_eq(f.both >> lane & 1, both);
            cr_assert_eq(f.multiplied >> lane & 1, both && product);
            cr_assert_eq(f.padded >> lane & 1, can && !both && (of[0].way || of[1].way));
            cr_assert(is_same(d[lane], can ? expected : (struct origin){.low = 77}),
                      "%s: seed %llu, round %d, lane %d: other results", name,
                      (unsigned long long)seed, round, lane);
            computed += can;
        }
    }
    cr_assert_gt(computed, ROUNDS * VG_LANES / 10);
}

Test(proof, lanes_that_are_computed_together_have_the_same_results)
{
    cr_assert(field_make());
    each_target(compare);
}

/* ---- pairs, sums and conversions ------------------------------------------------------------- */

/* Makes a half: an element of x or k, or a zero. */
static struct origin half_operand(struct rng *rng, uint64_t way, float number)
{
    if (rng_range(rng, 0, 5) == 0)
        return (struct origin){0};
    struct origin o = element(rng, way, number);
    o.step = 0;
    return proof_origin(proof_operand_of(o, (double)number, PTX_TYPE_f32, 0), PTX_TYPE_f16);
}

static struct origin pair(struct rng *rng, int which, uint32_t *bits)
{
    const uint64_t way = which == 2   ? WAY_OF_X | WAY_OF_K | (uint64_t)rng_range(rng, 1, 900)
                         : which == 1 ? WAY_OF_K | WAY_ONE(WAY_K_CONST)
                                      : WAY_OF_X | WAY_ONE(WAY_X_SHARED);
    struct origin half[2];
    for (int h = 0; h < 2; h++)
        half[h] = half_operand(rng, way, (float)rng_range(rng, -99, 99) * 0x1p-6f);
    *bits = (half[0].value & 0xffff) | half[1].value << 16;
    if (rng_range(rng, 0, 19) == 0)
        *bits ^= 1; /* a number with another value than its element, or without an element */
    return proof_joined(half[0], half[1]);
}

static struct proof_value half_of(struct origin o, uint32_t bits, int half)
{
    return proof_operand_of(o, (double)lane_f32_from_f16(bits >> 16 * half & 0xffff),
                            PTX_TYPE_f16x2, half);
}

/* @return a * b + c, where missing elements are zeros. @param multiplies  false: a + c */
static struct proof_value combined(struct proof_value a, struct proof_value b, struct proof_value c,
                                   bool multiplies)
{
    bool is_product;
    struct proof_value r = multiplies && a.element && b.element ? proof_product(a, b, &is_product)
                           : multiplies                         ? (struct proof_value){0}
                                                                : a;
    return r.element && c.element ? proof_sum(r, c) : r.element ? r : c;
}

static struct origin joined(struct origin *const o[3], uint32_t *const bits[3], int lane,
                            bool multiplies)
{
    struct origin half[2];
    for (int h = 0; h < 2; h++)
        half[h] = proof_origin(combined(half_of(o[0][lane], bits[0][lane], h),
                                        half_of(o[1][lane], bits[1][lane], h),
                                        half_of(o[2][lane], bits[2][lane], h), multiplies),
                               PTX_TYPE_f16x2);
    return proof_joined(half[0], half[1]);
}

/* @return the value of a word without the sign of halves that are 0 */
static uint32_t without_signs(uint32_t value)
{
    const uint32_t low = value & 0x7fff ? 0xffff : 0, high = value & 0x7fff0000 ? 0xffff0000 : 0;
    return value & (low | high);
}

/* Compares all but the steps, which belong to the instruction. */
static void expect_alike(struct origin a, struct origin b, const char *name, uint64_t seed,
                         int round)
{
    const uint32_t near = (a.lost & 0x7fff7fff) - (b.lost & 0x7fff7fff) + 0x10001;
    cr_assert(a.low == b.low && a.high == b.high && a.way == b.way && a.maker == b.maker &&
                  without_signs(a.value) == without_signs(b.value) && (near & 0xffff) <= 2 &&
                  near >> 16 <= 2,
              "%s: seed %llu, round %d: %x %x %x %x, expected %x %x %x %x", name,
              (unsigned long long)seed, round, a.low, a.high, a.value, a.lost, b.low, b.high,
              b.value, b.lost);
}

static void compare_pairs(const struct vg_handlers *handlers, const char *name)
{
    const uint64_t seed = rng_fresh_seed();
    struct rng rng = rng_make(seed, 2);
    size_t computed = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct origin o[3][VG_LANES], d[VG_LANES] = {{0}};
        uint32_t bits[3][VG_LANES];
        struct proof_pairs f;
        for (int lane = 0; lane < VG_LANES; lane++)
            for (int i = 0; i < 3; i++)
                o[i][lane] = pair(&rng, i, &bits[i][lane]);
        struct origin *const of[3] = {o[0], o[1], o[2]};
        uint32_t *const with[3] = {bits[0], bits[1], bits[2]};
        const struct origin *const from[3] = {o[0], o[1], o[2]};
        const uint32_t *const words[3] = {bits[0], bits[1], bits[2]};
        handlers->fuse_pairs(d, from, words, UINT32_MAX, &f);
        for (uint32_t left = f.done; left; left &= left - 1, computed++) {
            const int i = __builtin_ctz(left);
            expect_alike(d[i], joined(of, with, i, true), name, seed, round);
            const uint32_t low = o[0][i].low && o[1][i].low, high = o[0][i].high && o[1][i].high;
            cr_assert_eq(f.padded >> i & 1, (!low && (o[0][i].low || o[1][i].low)) ||
                                                (!high && (o[0][i].high || o[1][i].high)));
        }
        const struct origin *const sum[2] = {o[2], o[0]};
        const uint32_t *const sum_words[2] = {bits[2], bits[0]};
        struct origin *const sum_of[3] = {o[2], o[1], o[0]};
        uint32_t *const sum_with[3] = {bits[2], bits[1], bits[0]};
        uint32_t left = handlers->add_lanes(d, sum, sum_words, UINT32_MAX, true);
        for (; left; left &= left - 1, computed++)
            expect_alike(d[__builtin_ctz(left)],
                         joined(sum_of, sum_with, __builtin_ctz(left), false), name, seed, round);
    }
    cr_assert(computed > ROUNDS * VG_LANES / 10 || handlers == &vg_handlers_base);
}

static void compare_sums(const struct vg_handlers *handlers, const char *name)
{
    const uint64_t seed = rng_fresh_seed();
    struct rng rng = rng_make(seed, 3);
    size_t computed = 0, converted = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct origin o[2][VG_LANES], d[VG_LANES];
        uint32_t bits[2][VG_LANES];
        for (int lane = 0; lane < VG_LANES; lane++)
            for (int i = 0; i < 2; i++)
                o[i][lane] = operand(&rng, 2 * i, &bits[i][lane]);
        const struct origin *const from[2] = {o[0], o[1]};
        const uint32_t *const words[2] = {bits[0], bits[1]};
        uint32_t left = handlers->add_lanes(d, from, words, UINT32_MAX, false);
        for (; left; left &= left - 1, computed++) {
            const int i = __builtin_ctz(left);
            struct proof_value v[2];
            for (int k = 0; k < 2; k++)
                v[k] = proof_operand_of(o[k][i], (double)f32_of_bits(bits[k][i]), PTX_TYPE_f32, 0);
            struct origin expected = proof_origin(combined(v[0], v[1], v[1], false), PTX_TYPE_f32);
            expected.step = d[i].step;
            cr_assert(is_same(d[i], expected), "%s: seed %llu, round %d, lane %d: other sums", name,
                      (unsigned long long)seed, round, i);
        }
        left = handlers->convert_lanes(d, o[0], bits[0], true);
        for (; left; left &= left - 1, converted++) {
            const int i = __builtin_ctz(left);
            expect_alike(d[i],
                         proof_origin(proof_operand_of(o[0][i], (double)f32_of_bits(bits[0][i]),
                                                       PTX_TYPE_f32, 0),
                                      PTX_TYPE_f16),
                         name, seed, round);
            o[0][i] = d[i];
            bits[0][i] = d[i].value;
        }
        left = handlers->convert_lanes(d, o[0], bits[0], false);
        for (; left; left &= left - 1, converted++) {
            const int i = __builtin_ctz(left);
            const struct proof_value half = half_of(o[0][i], bits[0][i], 0);
            struct origin expected = proof_origin(half, PTX_TYPE_f32);
            expected.step = o[0][i].step;
            cr_assert(is_same(d[i], expected), "%s: seed %llu, round %d, lane %d: not converted",
                      name, (unsigned long long)seed, round, i);
        }
    }
    cr_assert_gt(computed, ROUNDS * VG_LANES / 10);
    cr_assert(converted > ROUNDS * VG_LANES / 10 || handlers == &vg_handlers_base);
}

Test(proof, pairs_and_sums_that_are_computed_together_have_the_same_results)
{
    cr_assert(field_make());
    each_target(compare_pairs);
    each_target(compare_sums);
}
