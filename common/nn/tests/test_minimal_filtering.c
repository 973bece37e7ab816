/* Tests the errors that m14's assignment states as a share of the grader's tolerance: emulates
 * forms of minimal filtering with their points, and the direct sum, in float, each with its own
 * seed. */
#include "base/checkout.h"
#include "base/files.h"
#include "base/rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { K = 5, MOST = 9, C_MOST = 12 };

/* F(outs,5) in dims dimensions, at outs + K - 2 points and infinity. dims = 0: the direct sum. */
struct form {
    const char *name, *points_text;
    int dims, outs;
    double points[MOST];
};

static const struct form forms[] = {
    {"direct", "", 0, 1, {0}},
    {"F(2,5) in one dimension", "0, 1, -1, 1/2, -2", 1, 2, {0, 1, -1, .5, -2}},
    {"F(4,5) in one dimension", "0, 1, -1, 1/2, -1/2, 2, -2", 1, 4, {0, 1, -1, .5, -.5, 2, -2}},
    {"F(2x2,5x5)", "0, 1, -1, 1/2, -2", 2, 2, {0, 1, -1, .5, -2}},
    {"F(2x2,5x5)", "0, 1, -1, 2, -2", 2, 2, {0, 1, -1, 2, -2}},
    {"F(2x2,5x5)", "0, 1, -1, 1/2, -1/2", 2, 2, {0, 1, -1, .5, -.5}},
    {"F(4x4,5x5)", "0, 1, -1, 1/2, -1/2, 2, -2", 2, 4, {0, 1, -1, .5, -.5, 2, -2}},
    {"F(5x5,5x5)", "0, 1, -1, 1/2, -1/2, 2, -2, 4", 2, 5, {0, 1, -1, .5, -.5, 2, -2, 4}},
};

/* y = a ((g k) * (d x)), rounded to float. */
struct matrices {
    int n;
    float a[MOST][MOST], g[MOST][MOST], d[MOST][MOST];
};

/* Row i of d: the coefficients of the product of all z - point[j], j not i. */
static void product_of_all_but(const double *point, int points, int i, float row[MOST])
{
    double c[MOST + 1] = {1};
    for (int j = 0, degree = 0; j < points; j++)
        if (j != i) {
            for (int l = ++degree; l > 0; l--)
                c[l] = c[l - 1] - point[j] * c[l];
            c[0] *= -point[j];
        }
    for (int l = 0; l < MOST; l++)
        row[l] = (float)c[l];
}

static struct matrices matrices_of(const struct form *f)
{
    struct matrices to = {.n = f->outs + K - 1};
    const int points = to.n - 1;
    for (int i = 0; i < points; i++) {
        double scale = 1, power = 1;
        for (int j = 0; j < points; j++)
            scale *= j == i ? 1 : f->points[i] - f->points[j];
        for (int j = 0; j < MOST; j++, power *= f->points[i]) {
            to.a[j][i] = (float)power;
            to.g[i][j] = (float)(power / scale);
        }
    }
    for (int i = 0; i < to.n; i++)
        product_of_all_but(f->points, points, i, to.d[i]);
    to.a[f->outs - 1][points] = to.g[points][K - 1] = 1;
    return to;
}

/* to = matrix * from, or with across = from * (transposed matrix); sizes: rows x inner times inner
 * x columns. */
static void multiply(float to[MOST][MOST], float matrix[MOST][MOST], float from[MOST][MOST],
                     int rows, int inner, int columns, bool across)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float sum = 0;
            for (int l = 0; l < inner; l++)
                sum = across ? fmaf(matrix[j][l], from[i][l], sum)
                             : fmaf(matrix[i][l], from[l][j], sum);
            to[i][j] = sum;
        }
}

typedef float tile[MOST][MOST];

/* Adds the products of one input map to sum, in the transformed space. */
static void add_map(tile sum, struct matrices *m, int dims, tile x, tile k)
{
    tile half, u, v;
    const int rows = dims == 2 ? m->n : K;
    multiply(v, m->d, x, rows, m->n, m->n, true);
    multiply(u, m->g, k, K, K, m->n, true);
    if (dims == 2) {
        multiply(half, m->d, v, m->n, m->n, m->n, false);
        memcpy(v, half, sizeof v);
        multiply(half, m->g, u, m->n, K, m->n, false);
        memcpy(u, half, sizeof u);
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < m->n; j++) {
            float *to = &sum[dims == 2 ? i : 0][j];
            *to = fmaf(u[i][j], v[i][j], *to);
        }
}

static void add_map_directly(tile sum, tile x, tile k)
{
    for (int p = 0; p < K; p++)
        for (int q = 0; q < K; q++)
            sum[0][0] = fmaf(x[p][q], k[p][q], sum[0][0]);
}

/* The outputs of one tile with C input maps; x and k are inputs. */
static void outputs_of(const struct form *f, struct matrices *m, int C, tile *x, tile *k, tile y)
{
    tile sum = {{0}}, half;
    for (int c = 0; c < C; c++)
        if (f->dims)
            add_map(sum, m, f->dims, x[c], k[c]);
        else
            add_map_directly(sum, x[c], k[c]);
    if (!f->dims) {
        y[0][0] = sum[0][0];
        return;
    }
    multiply(half, m->a, sum, f->dims == 2 ? m->n : 1, m->n, f->outs, true);
    if (f->dims == 2)
        multiply(y, m->a, half, f->outs, m->n, f->outs, false);
    else
        memcpy(y, half, sizeof half);
}

static double exact(tile *x, tile *k, int C, int h, int w)
{
    double sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                sum += (double)x[c][h + p][w + q] * k[c][p][q];
    return sum;
}

/* Fills x and k with numbers in [-1, 1); with few, all but 4 weights are 2^40 times smaller.
 * @return the sum of all |k| */
static double fill(struct rng *rng, int C, bool few, tile *x, tile *k)
{
    double sum = 0;
    for (int c = 0; c < C; c++) {
        rng_fill(rng, x[c][0], sizeof x[c] / sizeof(float), -1, 1);
        rng_fill(rng, k[c][0], sizeof k[c] / sizeof(float), -1, 1);
        for (int i = 0; few && i < K * K; i++)
            k[c][i / K][i % K] *= 0x1p-40f;
    }
    for (int i = 0; few && i < 4; i++)
        k[rng_range(rng, 0, C - 1)][rng_range(rng, 0, K - 1)][rng_range(rng, 0, K - 1)] =
            rng_float(rng, -1, 1);
    for (int i = 0; i < C * K * K; i++)
        sum += fabs((double)k[i / (K * K)][i / K % K][i % K]);
    return sum;
}

/* @return the largest error of @p tiles tiles as a share of the tolerance; with few, as a multiple
 * of 2^-24 times the sum of all |k| */
static double largest_error(const struct form *f, int C, bool few, int tiles)
{
    static tile x[C_MOST], k[C_MOST];
    struct matrices m = matrices_of(f);
    struct rng rng = rng_make(14, (uint64_t)C);
    double largest = 0;
    for (int t = 0; t < tiles; t++) {
        tile y;
        const double sum = fill(&rng, C, few, x, k);
        outputs_of(f, &m, C, x, k, y);
        for (int i = 0; i < f->outs * (f->dims == 2 ? f->outs : 1); i++) {
            const int h = i / f->outs, w = i % f->outs;
            const double right = exact(x, k, C, h, w), error = fabs(y[h][w] - right);
            const double tolerance = 6 * sqrt(C * K * K) * 0x1p-24 * sum + 1e-6 * fabs(right);
            largest = fmax(largest, few ? error / sum * 0x1p24 : error / tolerance);
        }
    }
    return largest;
}

Test(minimal_filtering, errs_as_the_page_states)
{
    char path[PATH_MAX], row[256], *page;
    size_t bytes;
    path_format(path, sizeof path, "%s/labs/m14-minimal-filtering/README.md", checkout_root(NULL));
    cr_assert(!file_read(path, 1 << 20, &page, &bytes, NULL));
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct form *f = &forms[i];
        snprintf(row, sizeof row, "\n| %s | %s | %.2f | %.3f | %.0f |\n", f->name, f->points_text,
                 largest_error(f, 1, false, 40000), largest_error(f, C_MOST, false, 2000),
                 largest_error(f, 1, true, 4000));
        cr_expect(strstr(page, row), "%s lacks this row:%s", path, row);
    }
    free(page);
}
