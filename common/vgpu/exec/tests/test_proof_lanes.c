/* Compares fuse_lanes() of each instruction set with the same operations on single lanes. */
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
