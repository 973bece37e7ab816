/* Tests the layers against the C library in float64 and against their definitions. */
#include "nn/layers.h"

#include "base/rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint32_t bits_of(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static float from_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

/* ---- tanh ----------------------------------------------------------------------------------- */

/* The result of a sweep over consecutive float32. */
struct sweep {
    size_t decreasing; /* values of which the next float32 has a smaller tanh */
    size_t asymmetric; /* values for which tanh(-x) is not -tanh(x) */
    double worst_ulp;  /* largest error in units in the last place of the result */
};

enum { BLOCK = 1 << 14 };

/* Tests @p count (at most BLOCK) consecutive positive float32; @p first is the bits of the
 * first. */
static void sweep_block(struct sweep *s, uint32_t first, size_t count, size_t check_every)
{
    static float x[BLOCK], minus_x[BLOCK], y[BLOCK], minus_y[BLOCK];
    for (size_t i = 0; i < count; i++) {
        x[i] = from_bits(first + (uint32_t)i);
        minus_x[i] = -x[i];
    }
    nn_tanh(x, y, count);
    nn_tanh(minus_x, minus_y, count);
    for (size_t i = 0; i < count; i++) {
        s->decreasing += i > 0 && !(y[i] >= y[i - 1]);
        s->asymmetric += bits_of(minus_y[i]) != (bits_of(y[i]) ^ 0x80000000u);
        if (i % check_every)
            continue;
        double exact = tanh((double)x[i]);
        double ulp = (double)nextafterf(y[i], 2) - y[i];
        if (y[i] == 1)
            ulp = 0x1p-24; /* unit of the binade below 1, which contains the exact value */
        double error = fabs(y[i] - exact) / ulp;
        s->worst_ulp = error > s->worst_ulp ? error : s->worst_ulp;
    }
}

static void expect_sweep(const struct sweep *s)
{
    cr_expect(s->decreasing == 0, "decreases at %zu places", s->decreasing);
    cr_expect(s->asymmetric == 0, "not odd at %zu places", s->asymmetric);
    cr_expect(s->worst_ulp < 0.5001, "error of %.6f ulp", s->worst_ulp);
}

/* Tests samples of consecutive float32 from 0 to 12; with STRESS=1, every float32. */
Test(tanh, is_monotone_odd_and_exact_to_half_a_unit)
{
    const char *stress = getenv("STRESS");
    uint32_t end = bits_of(12), step = stress && stress[0] == '1' ? BLOCK - 1 : 1 << 17;
    struct sweep s = {0};
    for (uint32_t at = 0; at < end; at += step)
        sweep_block(&s, at, step < BLOCK ? BLOCK : BLOCK / 8, 7);
    expect_sweep(&s);
}

/* The joints are where the argument reduction moves to the next power of two. */
Test(tanh, is_monotone_at_every_joint)
{
    struct sweep s = {0};
    for (int n = 0; n < 30; n++) {
        uint32_t joint = bits_of((float)((n + 0.5) * 0.34657359027997264));
        sweep_block(&s, joint - BLOCK / 2, BLOCK, 1);
    }
    sweep_block(&s, bits_of(10) - BLOCK / 2, BLOCK, 1);
    sweep_block(&s, bits_of(9.0109f) - BLOCK / 2, BLOCK, 1);
    expect_sweep(&s);
}

Test(tanh, keeps_special_values)
{
    const float in[] = {0.0f, -0.0f, 1e-45f, -1e-40f, INFINITY, -INFINITY, 3e38f, 0x1p-126f};
    const float out[] = {0.0f, -0.0f, 1e-45f, -1e-40f, 1, -1, 1, 0x1p-126f};
    float got[8], nan = NAN;
    nn_tanh(in, got, 8);
    for (int i = 0; i < 8; i++)
        cr_expect(bits_of(got[i]) == bits_of(out[i]), "tanh(%g) is %g", in[i], got[i]);
    nn_tanh(&nan, &nan, 1);
    cr_expect(isnan(nan));
}

Test(tanh, works_in_place_and_at_any_length)
{
    enum { MOST = 200, LONG = 100003 };
    static float x[LONG], y[LONG + 1];
    struct rng r = rng_make(1, 0);
    rng_fill(&r, x, LONG, -4, 4);
    for (size_t n = 0; n < MOST; n++) {
        y[n] = 77;
        nn_tanh(x, y, n);
        cr_expect(y[n] == 77, "length %zu: written after the end", n);
        for (size_t i = 0; i < n; i++)
            cr_expect(y[i] == (float)tanh(x[i]), "length %zu, element %zu", n, i);
    }
    nn_tanh(x, y, LONG);
    nn_tanh(x, x, LONG);
    cr_expect(memcmp(x, y, sizeof x) == 0);
}

/* ---- ReLU ----------------------------------------------------------------------------------- */

Test(relu, keeps_positive_numbers_and_nan)
{
    enum { LONG = 100003 };
    static float x[LONG], y[LONG + 1];
    struct rng r = rng_make(3, 0);
    rng_fill(&r, x, LONG, -4, 4);
    x[0] = NAN, x[1] = INFINITY, x[2] = -INFINITY, x[3] = 0;
    y[LONG] = 77;
    nn_relu(x, y, LONG);
    cr_expect(isnan(y[0]) && y[LONG] == 77);
    for (int i = 1; i < LONG; i++)
        cr_expect(y[i] == (x[i] > 0 ? x[i] : 0), "element %d: %g of %g", i, y[i], x[i]);
    nn_relu(x, x, LONG);
    cr_expect(memcmp(x + 1, y + 1, (LONG - 1) * sizeof *x) == 0);
}

/* ---- pooling -------------------------------------------------------------------------------- */

static float largest(const float *at, int W, int side)
{
    float max = -INFINITY;
    for (int i = 0; i < side * side; i++)
        max = fmaxf(max, at[i / side * W + i % side]);
    return max;
}

static void expect_pool(size_t maps, int H, int W, int side, struct rng *r)
{
    size_t elems = maps * H * W, pooled = maps * (H / side) * (W / side);
    float *x = malloc(elems * sizeof *x), *y = malloc((pooled + 1) * sizeof *y);
    cr_assert(x && y);
    rng_fill(r, x, elems, -1, 1);
    for (size_t i = 0; i <= pooled; i++)
        y[i] = NAN;
    nn_pool(x, y, maps, H, W, side);
    cr_expect(isnan(y[pooled]), "%zu maps of %dx%d: written after the end", maps, H, W);
    for (size_t m = 0; m < maps; m++)
        for (int h = 0; h < H / side; h++)
            for (int w = 0; w < W / side; w++)
                cr_expect(y[(m * (H / side) + h) * (W / side) + w] ==
                              largest(x + (m * H + side * h) * W + side * w, W, side),
                          "%zu maps of %dx%d by %d: [%zu,%d,%d]", maps, H, W, side, m, h, w);
    free(x);
    free(y);
}

Test(pool, takes_the_largest_of_a_window_and_drops_ends_that_fill_none)
{
    static const int sizes[][2] = {{1, 1},  {2, 2},   {1, 8},   {8, 1},   {3, 3},
                                   {2, 35}, {66, 66}, {29, 29}, {24, 24}, {7, 100}};
    struct rng r = rng_make(2, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t maps = 1; maps <= 61; maps += 30)
            for (int side = 1; side <= 4; side++)
                expect_pool(maps, sizes[i][0], sizes[i][1], side, &r);
}

/* ---- fully connected ------------------------------------------------------------------------ */

/* The definition with its sixteen lanes, element by element. */
static float dense_reference(const float *x, const float *weight, float bias, int n)
{
    float lane[16] = {0};
    for (int i = 0; i < n; i++) {
        float product = x[i] * weight[i];
        lane[i % 16] += product;
    }
    for (int half = 8; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return bias + lane[0];
}

static void expect_dense(size_t batch, int inputs, int outputs, struct rng *r)
{
    float *x = malloc(batch * inputs * sizeof *x), *bias = malloc(outputs * sizeof *bias);
    float *weight = malloc((size_t)inputs * outputs * sizeof *weight);
    float *y = malloc(batch * outputs * sizeof *y);
    cr_assert(x && weight && bias && y);
    rng_fill(r, x, batch * inputs, -1, 1);
    rng_fill(r, weight, (size_t)inputs * outputs, -1, 1);
    rng_fill(r, bias, outputs, -1, 1);
    nn_dense(x, weight, bias, y, batch, inputs, outputs);
    for (size_t b = 0; b < batch; b++)
        for (int o = 0; o < outputs; o++) {
            const float *row = x + b * inputs, *w = weight + (size_t)o * inputs;
            float got = y[b * outputs + o];
            double exact = bias[o];
            for (int i = 0; i < inputs; i++)
                exact += (double)row[i] * w[i];
            cr_expect(bits_of(got) == bits_of(dense_reference(row, w, bias[o], inputs)),
                      "%zu x %d x %d: other bits at [%zu,%d]", batch, inputs, outputs, b, o);
            cr_expect(fabs(got - exact) < 1e-5 * sqrt(inputs), "%zu x %d x %d: %g, not %g", batch,
                      inputs, outputs, got, exact);
        }
    free(x), free(weight), free(bias), free(y);
}

Test(dense, sums_in_sixteen_lanes)
{
    static const int inputs[] = {1, 7, 15, 16, 17, 31, 33, 160, 4704};
    struct rng r = rng_make(4, 0);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        expect_dense(1, inputs[i], 10, &r);
        expect_dense(19, inputs[i], 3, &r);
    }
}

/* ---- softmax -------------------------------------------------------------------------------- */

static void expect_softmax(const float *row, int n)
{
    float y[64];
    double max = row[0], sum = 0, got_sum = 0;
    cr_assert(n <= 64);
    nn_softmax(row, y, 1, n);
    for (int i = 1; i < n; i++)
        max = row[i] > max ? row[i] : max;
    for (int i = 0; i < n; i++)
        sum += exp(row[i] - max);
    for (int i = 0; i < n; i++) {
        double exact = exp(row[i] - max) / sum;
        cr_expect(fabs(y[i] - exact) <= 1e-7 * exact + 1e-45, "%d of %d: %g, not %g", i, n, y[i],
                  exact);
        got_sum += y[i];
    }
    cr_expect(fabs(got_sum - 1) < 1e-6, "sums to %g", got_sum);
}

Test(softmax, agrees_with_the_c_library)
{
    struct rng r = rng_make(5, 0);
    float row[64];
    for (int n = 1; n <= 64; n++) {
        rng_fill(&r, row, n, -10, 10);
        expect_softmax(row, n);
        rng_fill(&r, row, n, -90, 90);
        expect_softmax(row, n);
    }
    expect_softmax((const float[]){3e38f, -3e38f, 0}, 3);
    expect_softmax((const float[]){-100, 0, -103.5f, -104.5f}, 4);
}

Test(softmax, works_in_place_and_passes_nan_on)
{
    enum { ROWS = 5000, N = 10 };
    static float x[ROWS * N], y[ROWS * N];
    struct rng r = rng_make(6, 0);
    rng_fill(&r, x, ROWS * N, -5, 5);
    x[3 * N + 4] = NAN;
    nn_softmax(x, y, ROWS, N);
    nn_softmax(x, x, ROWS, N);
    cr_expect(memcmp(x, y, sizeof x) == 0);
    for (int i = 0; i < ROWS * N; i++)
        cr_expect(!!isnan(y[i]) == (i / N == 3), "element %d is %g", i, y[i]);
}
