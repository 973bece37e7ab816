/* Tests of the field whose elements are proofs: fractions, and sums of powers of two. */
#include "vgpu/exec/proof_field.h"

#include <criterion/criterion.h>
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
