#include "grader/compare/compare.h"

#include "base/rng.h"
#include "grader/compare/element.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sched.h>
#include <string.h>

/* Outputs of 3 images, 4 maps, 11 x 13: rows and planes are not multiples of any vector length. */
static const struct conv_shape shape = {3, 4, 2, 13, 15, 3};
enum { HEIGHT = 11, WIDTH = 13, PLANE = HEIGHT * WIDTH, IMAGE = 4 * PLANE, ELEMS = 3 * IMAGE };

static float ref[ELEMS], y[ELEMS], bounds[4] = {1e-5f, 2e-5f, 3e-5f, 4e-5f};

static void setup(void)
{
    struct rng r = rng_make(1, 1);
    rng_fill(&r, ref, ELEMS, -2, 2);
    memcpy(y, ref, sizeof y);
}

static struct gr_compare compare(void)
{
    struct gr_compare sum = {0};
    gr_compare_images(&shape, 0, 3, y, ref, bounds, &sum);
    return sum;
}

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

TestSuite(compare, .init = setup);

Test(compare, equal_tensors_pass)
{
    struct gr_compare sum = compare();
    cr_expect_eq(sum.elems, ELEMS);
    cr_expect_eq(sum.wrong, 0);
    cr_expect_eq(sum.max_error, 0);
    cr_expect_eq(sum.max_error_ratio, 0);
}

/* Changes each element of the tensor, one at a time, so that no position is missed. */
Test(compare, finds_a_wrong_element_wherever_it_is)
{
    for (size_t i = 0; i < ELEMS; i++) {
        y[i] = ref[i] + 0.5f;
        struct gr_compare sum = compare();
        cr_assert_eq(sum.wrong, 1, "element %zu", i);
        cr_assert_eq(sum.first, i);
        cr_assert_eq((((size_t)sum.b * 4 + sum.m) * HEIGHT + sum.h) * WIDTH + sum.w, i);
        cr_assert(sum.h < HEIGHT && sum.w < WIDTH && sum.m < 4 && sum.b < 3);
        cr_assert_eq(sum.expected, ref[i]);
        cr_assert_eq(sum.got, y[i]);
        cr_assert_float_eq(sum.max_error, 0.5, 1e-6);
        y[i] = ref[i];
    }
}

Test(compare, nan_inf_and_poison_fail_wherever_they_are)
{
    for (size_t i = 0; i < ELEMS; i++) {
        y[i] = NAN;
        struct gr_compare sum = compare();
        cr_assert(sum.wrong == 1 && sum.nan == 1 && sum.inf == 0 && sum.unwritten == 0);
        cr_assert_eq(sum.max_error, 0, "NaN has no distance");

        y[i] = i % 2 ? INFINITY : -INFINITY;
        sum = compare();
        cr_assert(sum.wrong == 1 && sum.nan == 0 && sum.inf == 1 && sum.unwritten == 0);

        y[i] = from_bits(GR_POISON_BITS);
        sum = compare();
        cr_assert(sum.wrong == 1 && sum.nan == 0 && sum.inf == 0 && sum.unwritten == 1);

        /* The result of arithmetic with poison no longer counts as unwritten. */
        y[i] = from_bits(GR_POISON_BITS | 0x00400000u);
        sum = compare();
        cr_assert(sum.wrong == 1 && sum.nan == 1 && sum.inf == 0 && sum.unwritten == 0);
        y[i] = ref[i];
    }
}

Test(compare, tolerance_is_inclusive)
{
    cr_expect(gr_element_passes(1.0f + 0x1p-10f, 1.0f, 0x1p-10f));
    cr_expect(gr_element_passes(0x1p-10f, 0, 0x1p-10f));
    cr_expect_not(gr_element_passes(nextafterf(0x1p-10f, 1), 0, 0x1p-10f));
    cr_expect(gr_element_passes(-0.0f, 0.0f, 0));
    cr_expect(gr_element_passes(0.0f, -0.0f, 0));
    cr_expect_not(gr_element_passes(0x1p-149f, 0.0f, 0));
    cr_expect(gr_element_passes(1.0f + 8 * 0x1p-23f, 1.0f, 0), "the relative part alone");
    cr_expect_not(gr_element_passes(1.0f + 9 * 0x1p-23f, 1.0f, 0));
}

Test(compare, nothing_infinite_passes)
{
    cr_expect_not(gr_element_passes(NAN, 0, INFINITY));
    cr_expect_not(gr_element_passes(INFINITY, 0, INFINITY));
    cr_expect_not(gr_element_passes(INFINITY, INFINITY, 1));
    cr_expect_not(gr_element_passes(NAN, NAN, 1));
    cr_expect_not(gr_element_passes(1, NAN, 1));
    cr_expect_not(gr_element_passes(1, 1, NAN));
}

/* The quick comparison of whole rows must agree with the definition, even near the tolerance. */
Test(compare, agrees_with_the_definition)
{
    struct rng r = rng_make(2, 1);
    for (int round = 0; round < 200; round++) {
        size_t wrong = 0;
        for (size_t i = 0; i < ELEMS; i++) {
            float tolerance = bounds[i / PLANE % 4];
            /* Even rounds: steps of a thousandth around the tolerance. Odd rounds: a rare and large
             * error. */
            y[i] = round % 2 ? ref[i] + (rng_range(&r, 0, 999) == 0)
                             : ref[i] + tolerance * (1 + rng_range(&r, -9, 9) * 1e-3f);
            wrong += !gr_element_passes(y[i], ref[i], tolerance);
        }
        cr_assert_eq(compare().wrong, wrong, "round %d", round);
    }
}

Test(compare, zero_tolerance_wants_equality)
{
    float zero[4] = {0};
    memset(ref, 0, sizeof ref);
    memset(y, 0, sizeof y);
    y[7] = -0.0f;
    struct gr_compare sum = {0};
    gr_compare_images(&shape, 0, 3, y, ref, zero, &sum);
    cr_expect_eq(sum.wrong, 0);
    cr_expect_eq(sum.max_error_ratio, 0);
    y[8] = 1e-30f;
    gr_compare_images(&shape, 0, 3, y, ref, zero, &sum);
    cr_expect_eq(sum.wrong, 1);
    cr_expect(isinf(sum.max_error_ratio));
}

static void spoil_much(void)
{
    struct rng r = rng_make(3, 1);
    for (size_t i = IMAGE / 2; i < ELEMS; i += rng_range(&r, 1, 40))
        y[i] = i % 5 == 0   ? NAN
               : i % 5 == 1 ? INFINITY
               : i % 5 == 2 ? from_bits(GR_POISON_BITS)
                            : ref[i] + rng_float(&r, -1, 1);
}

static void assert_same(const struct gr_compare *a, const struct gr_compare *b)
{
    cr_expect(a->elems == b->elems && a->wrong == b->wrong && a->unwritten == b->unwritten);
    cr_expect(a->nan == b->nan && a->inf == b->inf && a->first == b->first);
    cr_expect(a->b == b->b && a->m == b->m && a->h == b->h && a->w == b->w);
    cr_expect(gr_bits(a->expected) == gr_bits(b->expected) && gr_bits(a->got) == gr_bits(b->got));
    cr_expect(a->max_error == b->max_error && a->max_error_ratio == b->max_error_ratio);
}

Test(compare, pieces_add_up_to_the_whole_in_any_order)
{
    static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    spoil_much();
    struct gr_compare whole = compare();
    cr_assert_gt(whole.wrong, 50);
    for (size_t o = 0; o < 3; o++) {
        struct gr_compare sum = {0};
        for (int i = 0; i < 3; i++) {
            int b = orders[o][i];
            gr_compare_images(&shape, b, 1, y + b * IMAGE, ref + b * IMAGE, bounds, &sum);
        }
        assert_same(&sum, &whole);
    }
}

Test(compare, any_number_of_cores_says_the_same)
{
    spoil_much();
    struct gr_compare all = compare();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
    struct gr_compare alone = compare();
    assert_same(&alone, &all);
}
