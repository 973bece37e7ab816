/* Compares the oracle with the seven loops of the definition, bit for bit, and tests which results
 * its tolerance accepts. */
#include "nn/oracle.h"

#include "base/rng.h"
#include "nn/oracle_kernel.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- buffers with guard zones --------------------------------------------------------------- */

enum { GUARD = 64 };

/* A NaN with a payload that no computation produces; it marks memory that must not be written or
 * used. */
static float poison(void)
{
    const uint32_t bits = 0x7fc0beefu;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static float *guarded_make(size_t elems)
{
    float *all = malloc((elems + 2 * GUARD) * sizeof *all);
    cr_assert(all);
    for (size_t i = 0; i < elems + 2 * GUARD; i++)
        all[i] = poison();
    return all + GUARD;
}

static void guarded_free(float *data)
{
    free(data - GUARD);
}

static void expect_guards(const float *data, size_t elems)
{
    const float expected = poison();
    for (size_t i = 0; i < GUARD; i++) {
        cr_expect(memcmp(data - 1 - i, &expected, 4) == 0, "written %zu before the buffer", i + 1);
        cr_expect(memcmp(data + elems + i, &expected, 4) == 0, "written %zu after the buffer", i);
    }
}

/* ---- the definition ------------------------------------------------------------------------- */

/* One output, summed in float64 in the order c, p, q. */
static double sum_at(const struct conv_shape *s, const float *x, const float *k, int b, int m,
                     int h, int w)
{
    double sum = 0;
    for (int c = 0; c < s->C; c++)
        for (int p = 0; p < s->K; p++)
            for (int q = 0; q < s->K; q++)
                sum += (double)x[((size_t)(b * s->C + c) * s->H + h + p) * s->W + w + q] *
                       (double)k[((size_t)(m * s->C + c) * s->K + p) * s->K + q];
    return sum;
}

static void expect_bits(const struct conv_shape *s, const float *x, const float *k, const float *y,
                        const char *by)
{
    const float *got = y;
    for (int b = 0; b < s->B; b++)
        for (int m = 0; m < s->M; m++)
            for (int h = 0; h <= s->H - s->K; h++)
                for (int w = 0; w <= s->W - s->K; w++, got++) {
                    float expected = (float)sum_at(s, x, k, b, m, h, w);
                    cr_assert(memcmp(got, &expected, sizeof expected) == 0,
                              "%s: B=%d M=%d C=%d H=%d W=%d K=%d: y[%d,%d,%d,%d] is %.9g, not %.9g",
                              by, s->B, s->M, s->C, s->H, s->W, s->K, b, m, h, w, *got, expected);
                }
}

/* Tests every kernel that this machine can run, and the plain loops, on one shape. */
static void expect_oracle(const struct conv_shape *s, struct rng *r)
{
    size_t x_elems = nn_conv_x_elems(s), k_elems = nn_conv_k_elems(s), y_elems = nn_conv_y_elems(s);
    float *x = guarded_make(x_elems), *k = guarded_make(k_elems);
    rng_fill(r, x, x_elems, -1, 1);
    rng_fill(r, k, k_elems, -1, 1);
    const struct oracle_kernel *kernel;
    int i = 0;
    do {
        kernel = oracle_kernel(i++); /* NULL after the last kernel: plain loops */
        float *y = guarded_make(y_elems);
        oracle_conv_using(kernel, s, x, k, y);
        expect_bits(s, x, k, y, kernel ? kernel->name : "plain");
        expect_guards(y, y_elems);
        guarded_free(y);
    } while (kernel);
    guarded_free(x);
    guarded_free(k);
}

Test(oracle, is_the_definition_bit_for_bit_on_edge_shapes)
{
    static const struct conv_shape shapes[] = {
        {1, 1, 1, 1, 1, 1},    {1, 1, 1, 5, 5, 5},     {3, 2, 2, 7, 4, 4},    {1, 7, 1, 3, 90, 3},
        {2, 6, 1, 1, 32, 1},   {2, 5, 3, 1, 33, 1},    {1, 13, 2, 1, 31, 1},  {1, 3, 2, 40, 2, 2},
        {2, 12, 1, 70, 70, 5}, {2, 24, 12, 33, 33, 5}, {1, 50, 1, 28, 28, 5}, {9, 4, 5, 8, 11, 3},
        {1, 2, 17, 6, 9, 6},   {33, 1, 1, 4, 4, 2},    {1, 1, 1, 9, 64, 9},   {5, 11, 7, 13, 17, 5},
    };
    struct rng r = rng_make(7, 0);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        expect_oracle(&shapes[i], &r);
}

Test(oracle, is_the_definition_bit_for_bit_on_random_shapes)
{
    uint64_t seed = rng_fresh_seed();
    cr_log_info("seed %llu", (unsigned long long)seed);
    struct rng r = rng_make(seed, 0);
    for (int i = 0; i < 60; i++) {
        struct conv_shape s = {.B = rng_range(&r, 1, 5),
                               .M = rng_range(&r, 1, 14),
                               .C = rng_range(&r, 1, 6),
                               .K = rng_range(&r, 1, 7)};
        s.H = s.K + rng_range(&r, 0, 20);
        s.W = s.K + rng_range(&r, 0, 40);
        expect_oracle(&s, &r);
    }
}

Test(oracle, passes_nan_and_infinity_on_to_the_outputs_they_reach_only)
{
    const struct conv_shape s = {1, 2, 1, 6, 40, 3};
    float x[240], k[18], y[2 * 4 * 38];
    struct rng r = rng_make(3, 0);
    rng_fill(&r, x, 240, -1, 1);
    rng_fill(&r, k, 18, 0.5f, 1);
    x[0] = NAN;                 /* reaches y[.,0,0] */
    x[5 * 40 + 39] = HUGE_VALF; /* reaches y[.,3,37] */
    nn_oracle_conv(&s, x, k, y);
    for (int m = 0; m < 2; m++)
        for (int i = 0; i < 4 * 38; i++) {
            float got = y[m * 4 * 38 + i];
            if (i == 0)
                cr_expect(isnan(got));
            else if (i == 4 * 38 - 1)
                cr_expect(isinf(got));
            else
                cr_expect(isfinite(got), "element %d of map %d is %g", i, m, got);
        }
}

/* ---- tolerance ------------------------------------------------------------------------------ */

/* Orders of summation of a float32 convolution, from small to large errors. */
enum order { FORWARD, BACKWARD, LARGE_FIRST, POSITIVE_FIRST, ORDERS };

static int larger_first(const void *a, const void *b)
{
    float x = fabsf(*(const float *)a), y = fabsf(*(const float *)b);
    return (x < y) - (x > y);
}

static int positive_first(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

static float float32_sum(float *product, int n, enum order order)
{
    float sum = 0;
    if (order == LARGE_FIRST)
        qsort(product, n, sizeof *product, larger_first);
    if (order == POSITIVE_FIRST)
        qsort(product, n, sizeof *product, positive_first);
    for (int i = 0; i < n; i++)
        sum += product[order == BACKWARD ? n - 1 - i : i];
    return sum;
}

/* A convolution whose products and sums are rounded to float32. */
static void float32_conv(const struct conv_shape *s, const float *x, const float *k, float *y,
                         enum order order)
{
    int n = s->C * s->K * s->K;
    float *product = malloc(n * sizeof *product);
    cr_assert(product);
    for (int b = 0; b < s->B; b++)
        for (int m = 0; m < s->M; m++)
            for (int h = 0; h <= s->H - s->K; h++)
                for (int w = 0; w <= s->W - s->K; w++) {
                    int i = 0;
                    for (int c = 0; c < s->C; c++)
                        for (int p = 0; p < s->K; p++)
                            for (int q = 0; q < s->K; q++)
                                product[i++] = x[((b * s->C + c) * s->H + h + p) * s->W + w + q] *
                                               k[((m * s->C + c) * s->K + p) * s->K + q];
                    *y++ = float32_sum(product, n, order);
                }
    free(product);
}

/* Rounds to the 10 mantissa bits of TF32, to nearest even. Half precision has as many bits, but a
 * smallest exponent. */
static float round_to_10_bits(float f, int smallest_exponent)
{
    int exponent;
    if (f == 0)
        return f;
    frexpf(f, &exponent); /* f = 0.1... * 2^exponent */
    if (exponent < smallest_exponent)
        exponent = smallest_exponent;
    float unit = ldexpf(1, exponent - 11);
    return rintf(f / unit) * unit;
}

/* @return the number of elements of y outside the oracle's tolerance. */
static size_t count_outside(const struct conv_shape *s, const float *x, const float *k,
                            const float *y)
{
    size_t outside = 0, elems = nn_conv_y_elems(s), per_map = elems / s->B / s->M;
    float *expected = malloc(elems * sizeof *expected), *atol = malloc(s->M * sizeof *atol);
    float x_max = 0;
    cr_assert(expected && atol);
    for (size_t i = 0; i < nn_conv_x_elems(s); i++)
        x_max = fmaxf(x_max, fabsf(x[i]));
    nn_oracle_conv(s, x, k, expected);
    nn_conv_tolerance(s, 0, x_max, k, atol);
    for (size_t i = 0; i < elems; i++)
        outside +=
            !(fabsf(y[i] - expected[i]) <= atol[i / per_map % s->M] + NN_RTOL * fabsf(expected[i]));
    free(expected);
    free(atol);
    return outside;
}

static const struct conv_shape typical[] = {
    {2, 4, 1, 12, 12, 3}, {1, 3, 1, 16, 16, 5},  {1, 12, 1, 28, 28, 5}, {1, 4, 3, 17, 19, 5},
    {1, 2, 6, 10, 10, 3}, {1, 4, 12, 14, 14, 5}, {1, 2, 16, 13, 15, 4}, {3, 3, 1, 9, 9, 3},
};
enum { TYPICAL = sizeof typical / sizeof *typical };

/* Fills x and k for a typical shape; both are reused. */
static void fill(const struct conv_shape *s, struct rng *r, float **x, float **k, float **y)
{
    *x = realloc(*x, nn_conv_x_elems(s) * sizeof **x);
    *k = realloc(*k, nn_conv_k_elems(s) * sizeof **k);
    *y = realloc(*y, nn_conv_y_elems(s) * sizeof **y);
    cr_assert(*x && *k && *y);
    rng_fill(r, *x, nn_conv_x_elems(s), -1, 1);
    rng_fill(r, *k, nn_conv_k_elems(s), -1, 1);
}

Test(tolerance, accepts_float32_in_any_order)
{
    uint64_t seed = rng_fresh_seed();
    cr_log_info("seed %llu", (unsigned long long)seed);
    struct rng r = rng_make(seed, 1);
    float *x = NULL, *k = NULL, *y = NULL;
    for (int i = 0; i < TYPICAL; i++)
        for (enum order order = 0; order < ORDERS; order++) {
            const struct conv_shape *s = &typical[i];
            fill(s, &r, &x, &k, &y);
            float32_conv(s, x, k, y, order);
            size_t outside = count_outside(s, x, k, y);
            cr_expect(outside == 0, "shape %d, order %d: %zu elements refused", i, order, outside);
        }
    free(x), free(k), free(y);
}

Test(tolerance, refuses_tf32_and_half_precision)
{
    enum { NO_LIMIT = -200, HALF_SMALLEST = -13 };
    uint64_t seed = rng_fresh_seed();
    cr_log_info("seed %llu", (unsigned long long)seed);
    struct rng r = rng_make(seed, 2);
    float *x = NULL, *k = NULL, *y = NULL;
    for (int i = 0; i < TYPICAL; i++)
        for (int half = 0; half <= 1; half++) {
            const struct conv_shape *s = &typical[i];
            int smallest = half ? HALF_SMALLEST : NO_LIMIT;
            fill(s, &r, &x, &k, &y);
            size_t x_elems = nn_conv_x_elems(s), k_elems = nn_conv_k_elems(s);
            float *x_rounded = malloc(x_elems * sizeof *x),
                  *k_rounded = malloc(k_elems * sizeof *k);
            cr_assert(x_rounded && k_rounded);
            for (size_t j = 0; j < x_elems; j++)
                x_rounded[j] = round_to_10_bits(x[j], smallest);
            for (size_t j = 0; j < k_elems; j++)
                k_rounded[j] = round_to_10_bits(k[j], smallest);
            float32_conv(s, x_rounded, k_rounded, y, FORWARD);
            cr_expect(count_outside(s, x, k, y) > 0, "shape %d accepted with %s inputs", i,
                      half ? "half" : "TF32");
            free(x_rounded), free(k_rounded);
        }
    free(x), free(k), free(y);
}

Test(tolerance, is_the_documented_bound)
{
    const struct conv_shape s = {1, 2, 1, 4, 4, 2};
    const float k[8] = {1, -1, 2, -2, 0, 0, 0, 0.5f};
    float atol[2];
    nn_conv_tolerance(&s, 0, 3, k, atol);
    cr_expect(atol[0] == (float)(6 * 2 * 0x1p-24 * 3 * 6));
    cr_expect(atol[1] == (float)(6 * 2 * 0x1p-24 * 3 * 0.5));
}

Test(compare, counts_the_wrong_elements_only)
{
    const struct conv_shape s = {2, 3, 2, 6, 7, 3};
    const size_t n = nn_conv_y_elems(&s);
    float x[2 * 2 * 6 * 7], k[3 * 2 * 9], y[2 * 3 * 4 * 5], atol[3];
    struct rng r = rng_make(3, 1);
    size_t wrong;
    double largest;
    rng_fill(&r, x, sizeof x / sizeof *x, -1, 1);
    rng_fill(&r, k, sizeof k / sizeof *k, -1, 1);
    nn_conv_tolerance(&s, 0, 1, k, atol);
    cr_assert_eq(n, sizeof y / sizeof *y);

    nn_oracle_conv(&s, x, k, y);
    cr_expect_eq(nn_conv_compare(&s, x, k, y, &wrong, &largest, NULL), ST_OK);
    cr_expect_eq(wrong, 0);
    cr_expect_eq(largest, 0);

    y[7] += atol[0] / 4; /* rounding */
    cr_expect_eq(nn_conv_compare(&s, x, k, y, &wrong, &largest, NULL), ST_OK);
    cr_expect_eq(wrong, 0);
    cr_expect_gt(largest, 0);

    y[n - 1] += 10 * atol[2]; /* an error in the last map */
    y[21] = NAN;
    y[42] = INFINITY;
    cr_expect_eq(nn_conv_compare(&s, x, k, y, &wrong, &largest, NULL), ST_OK);
    cr_expect_eq(wrong, 3);
    cr_expect(isfinite(largest) && largest > 5 * (double)atol[2]);
}

Test(sizes, are_counted_without_overflow)
{
    const struct conv_shape s = {10000, 24, 12, 33, 33, 5};
    cr_expect(nn_conv_x_elems(&s) == (size_t)10000 * 12 * 33 * 33);
    cr_expect(nn_conv_k_elems(&s) == (size_t)24 * 12 * 25);
    cr_expect(nn_conv_y_elems(&s) == (size_t)10000 * 24 * 29 * 29);
    cr_expect(nn_conv_macs(&s) == 60.552e9);
}
