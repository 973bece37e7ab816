/* Tests of the field whose elements are proofs (fractions, cosines, and sums of powers of two), and of
 * the counts of halves. */
#include "vgpu/exec/proof_field.h"
#include "vgpu/exec/proof_halves.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

Test(proof_field, fractions_of_small_numbers_are_exact)
{
    cr_assert(field_make());
    static const int q[] = {3, 5, 6, 12, 15, 24, 45, 90, 120};
    for (size_t i = 0; i < sizeof q / sizeof *q; i++)
        for (int p = 1; p < 29; p++) {
            const uint32_t is = field_of_number((double)((float)p / (float)q[i]), true);
            cr_assert_eq(field_multiply(is, field_of_integer((uint64_t)q[i])),
                         field_of_integer((uint64_t)p), "%d/%d", p, q[i]);
            cr_assert_eq(field_of_number((double)((float)p / (float)q[i]), false), is, "%d/%d", p,
                         q[i]);
            cr_assert_eq(field_of_number(-(double)p / q[i], false), field_negative(is));
        }
}

Test(proof_field, computed_fractions_are_exact)
{
    cr_assert(field_make());
    static const double errors[] = {0x1p-49, -0x1p-49, 0x1p-52};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        for (int p = 1; p < 29; p++) {
            const uint32_t is = field_of_number(p / 45.0 * (1 + errors[i]), false);
            cr_assert_eq(field_multiply(is, field_of_integer(45)), field_of_integer((uint64_t)p));
        }
    const uint32_t far = field_of_number(7 / 45.0 * (1 + 0x1p-44), false);
    cr_assert_neq(field_multiply(far, field_of_integer(45)), field_of_integer(7));
}

Test(proof_field, products_of_rounded_fractions_are_fractions)
{
    cr_assert(field_make());
    static const int p[] = {1, 1, 2, 4, 8, 16, 1, 2, 4, 2, 32, 16},
                     q[] = {3, 15, 15, 15, 15, 15, 90, 90, 90, 9, 45, 45};
    for (size_t i = 0; i < sizeof q / sizeof *q; i++)
        for (size_t j = 0; j < sizeof q / sizeof *q; j++) {
            const float a = (float)p[i] / (float)q[i], b = (float)p[j] / (float)q[j];
            const uint32_t wanted = field_of_integer((uint64_t)(p[i] * p[j])),
                           by = field_of_integer((uint64_t)(q[i] * q[j]));
            cr_assert_eq(field_multiply(field_of_number((double)(a * b), true), by), wanted,
                         "%d/%d %d/%d", p[i], q[i], p[j], q[j]);
            const double c = (double)p[i] / q[i] * ((double)p[j] / q[j]);
            cr_assert_eq(field_multiply(field_of_number(c, false), by), wanted, "%d/%d %d/%d", p[i],
                         q[i], p[j], q[j]);
        }
}

Test(proof_field, other_numbers_are_sums_of_powers_of_two)
{
    cr_assert(field_make());
    for (int i = 0; i < 1000; i++) {
        const float a = (float)(rand() % 8192) / 64, b = (float)(rand() % 8192) * 4;
        cr_assert_eq(field_of_number((double)a + (double)b, false),
                     field_add(field_of_number((double)a, true), field_of_number((double)b, true)));
    }
    cr_assert_eq(field_of_number(0, true), 0);
    const uint32_t a = field_of_integer(12345);
    cr_assert_eq(field_multiply(field_inverse(a), a), proof_field.one);
}

/* A rotation by a part of a turn, done so often that it is a full turn. */
Test(proof_field, sines_and_cosines_are_those_of_roots_of_unity)
{
    cr_assert(field_make());
    static const int parts[] = {6, 8, 12, 15, 16, 20, 40, 60, 64};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (int is_float = 0; is_float < 2; is_float++) {
            const double angle = 2 * acos(-1) / parts[i], near = is_float ? 1 + 0x1p-24 : 1;
            const uint32_t c = field_of_number(near * cos(angle), is_float),
                           s = field_of_number(sin(angle), is_float);
            uint32_t x = proof_field.one, y = 0;
            for (int n = 0; n < parts[i]; n++) {
                const uint32_t old = x;
                x = field_add(field_multiply(c, x), field_negative(field_multiply(s, y)));
                y = field_add(field_multiply(s, old), field_multiply(c, y));
            }
            cr_assert_eq(x, proof_field.one, "1/%d", parts[i]);
            cr_assert_eq(y, 0, "1/%d", parts[i]);
        }
    const uint32_t root = field_of_number((double)sqrtf(2), true);
    cr_assert_eq(field_multiply(root, root), field_of_integer(2));
}

/* A program rounds integers by adding half a unit, scaled as its sums are. */
Test(proof_field, few_digits_far_below_the_largest_sum_are_rounding)
{
    cr_assert(field_make());
    static const int units[] = {1, 3, 25, 300, 8191, 8192};
    for (int power = 21; power <= 64; power++)
        for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
            const double number = ldexp(units[i], -power), largest = ldexp(number, 20);
            const uint32_t is = field_of_number(number, false);
            cr_expect(field_is_rounding(is, largest), "%d * 2^-%d", units[i], power);
            cr_expect(field_is_rounding(field_negative(is), largest), "-%d * 2^-%d", units[i],
                      power);
            cr_expect_not(field_is_rounding(is, 0.99 * largest), "%d * 2^-%d", units[i], power);
        }
}

Test(proof_field, other_numbers_are_not_rounding)
{
    cr_assert(field_make());
    const uint32_t third = field_inverse(field_of_integer(3));
    cr_expect_not(field_is_rounding(third, 1));
    cr_expect_not(field_is_rounding(proof_field.one, 1));
    int taken = 0;
    for (int i = 0; i < 10000; i++) /* 14 binary digits, or any element */
        taken +=
            field_is_rounding(field_of_number(ldexp(8193 + 2 * (rand() % 4096), -40), false), 1);
    cr_expect_lt(taken, 40, "%d numbers of 14 digits", taken);
    for (int i = taken = 0; i < 10000; i++)
        taken += field_is_rounding((uint32_t)rand() % proof_field.prime, 1);
    cr_expect_lt(taken, 40, "%d of 10000 elements; about 3 are expected", taken);
}

/* ---- halves of pairs ------------------------------------------------------------------------- */

Test(proof, halves_of_pairs_are_counted_where_they_arrive)
{
    const uint32_t pair = HALVES_OF_PAIR, two = halves_sum(pair, pair);
    cr_assert_eq(halves_count(two, 0), 2);
    cr_assert_eq(halves_count(two, 1), 2);
    const uint32_t lower = halves_part(two, 0), upper = halves_part(two, 1);
    cr_assert_eq(halves_count(lower, 0), 2);
    cr_assert_eq(halves_count(lower, 1), 0);
    cr_assert_eq(halves_joined(lower, upper), two);
    cr_assert_eq(halves_sum(lower, upper), two);
    cr_assert_eq(halves_sum(lower, 0), lower, "unknown products do not count");
    cr_assert_eq(halves_joined(upper, lower), 0, "the halves are exchanged");
    cr_assert_eq(halves_sum(0, 7), 0, "7 is not a count");
}

Test(proof, too_many_products_of_halves_are_unknown)
{
    uint32_t all = HALVES_OF_PAIR;
    for (int i = 0; i < HALVES_BITS - 1; i++)
        all = halves_sum(all, all);
    cr_assert_eq(halves_count(all, 0), 1u << (HALVES_BITS - 1));
    cr_assert_eq(halves_sum(all, all), 0);
}
