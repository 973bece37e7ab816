/** @file
 * tanh, ReLU, max-pool, fully connected and softmax: simple loops that the compiler vectorises.
 *
 * The results have the same bits on every machine: the layers use only additions, multiplications,
 * divisions and comparisons of IEEE 754, which round the same everywhere, in an order that does not
 * depend on the width of vectors or on the number of cores. tanh and exp also consist of these
 * operations, because the C library's versions differ. If a sum runs over a vector (nn_dense), its
 * lanes are part of the definition.
 *
 * tanh and exp share one scheme, in float64, so that after rounding to float32 they are almost
 * always the nearest float32 (the test allows 0.5001 units in the last place):
 *
 *   1. n = the whole number nearest to z / ln 2, r = z - n ln 2, so |r| <= ln(2) / 2;
 *   2. e^r - 1 = r + r^2/2! + ... + r^12/12!, relative error below 2^-50;
 *   3. e^z - 1 = 2^n (e^r - 1) + (2^n - 1), where 2^n is assembled from its bits;
 *   4. tanh(x) = (e^2x - 1) / (e^2x - 1 + 2) for x >= 0, which is accurate near 0; odd symmetry.
 *
 * tanh is non-decreasing over float32: from one float32 to the next, below 9.02 where it reaches 1,
 * it grows by at least 2^-44, hundreds of times the error of the float64 result before rounding.
 */
#include "nn/layers.h"

#include "base/clones.h"
#include "base/parallel.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
/* Vectorises loops of any length, even with comparisons (exception flags are not used). */
#pragma GCC optimize("O3", "no-trapping-math")
#endif

/* Elements in a piece of parallel work: enough to hide the cost of scheduling it. */
enum { PIECE = 1 << 15 };

static size_t pieces_of(size_t n, size_t piece)
{
    return (n + piece - 1) / piece;
}

/* Steps 1 to 3: e^z - 1 for |z| < 1000, through *scale = 2^n and the return value e^r - 1. */
static inline double exp_parts(double z, double *scale)
{
    const double inv_ln2 = 0x1.71547652b82fep+0;
    const double ln2_high = 0x1.62e42fefa38p-1; /* short enough that n * ln2_high is exact */
    const double ln2_low = 0x1.ef35793c7673p-45;
    /* Adding 1.5 * 2^52 rounds a number far below 2^51 to a whole number and puts it in the lowest
     * bits. */
    const double magic = 0x1.8p52;
    double shifted = z * inv_ln2 + magic;
    double n = shifted - magic;
    double r = (z - n * ln2_high) - n * ln2_low;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    memcpy(scale, &bits, sizeof bits);
    double p = 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    return p * r * r + r;
}

/* ---- tanh ----------------------------------------------------------------------------------- */

enum { TANH_BLOCK = 64 };

/* Works in place on a block of fixed length, so the vectoriser need not handle aliasing or tails.
 */
EACH_TARGET static void tanh_block(float *block)
{
    for (int i = 0; i < TANH_BLOCK; i++) {
        double a = fabsf(block[i]);
        a = a > 10.0 ? 10.0 : a; /* tanh(10) rounds to 1; NaN passes through */
        double scale, e = exp_parts(2 * a, &scale);
        double t = scale * e + (scale - 1);
        block[i] = copysignf((float)(t / (t + 2)), block[i]);
    }
}

struct tanh_work {
    const float *from;
    float *to;
    size_t n;
};

static void tanh_piece(void *context, size_t piece)
{
    const struct tanh_work *w = context;
    size_t end = (piece + 1) * PIECE < w->n ? (piece + 1) * PIECE : w->n;
    for (size_t i = piece * PIECE; i < end; i += TANH_BLOCK) {
        float block[TANH_BLOCK] = {0};
        size_t count = end - i < TANH_BLOCK ? end - i : TANH_BLOCK;
        memcpy(block, w->from + i, count * sizeof *block);
        tanh_block(block);
        memcpy(w->to + i, block, count * sizeof *block);
    }
}

void nn_tanh(const float *from, float *to, size_t n)
{
    struct tanh_work w = {from, to, n};
    parallel_for(pieces_of(n, PIECE), tanh_piece, &w);
}

/* ---- ReLU ----------------------------------------------------------------------------------- */

struct relu_work {
    const float *from;
    float *to;
    size_t n;
};

EACH_TARGET static void relu_piece(void *context, size_t piece)
{
    const struct relu_work *w = context;
    size_t end = (piece + 1) * PIECE < w->n ? (piece + 1) * PIECE : w->n;
    for (size_t i = piece * PIECE; i < end; i++)
        w->to[i] = w->from[i] < 0 ? 0 : w->from[i];
}

void nn_relu(const float *from, float *to, size_t n)
{
    struct relu_work w = {from, to, n};
    parallel_for(pieces_of(n, PIECE), relu_piece, &w);
}

/* ---- pooling -------------------------------------------------------------------------------- */

struct pool_work {
    const float *from;
    float *to;
    size_t maps, maps_per_piece;
    int H, W, side;
};

/* Windows of 2 x 2, as in most networks. */
EACH_TARGET static void pool_maps_2(const float *restrict from, float *restrict to, size_t maps,
                                    int H, int W)
{
    for (size_t m = 0; m < maps; m++, from += (size_t)H * W) {
        for (int h = 0; h + 1 < H; h += 2, to += W / 2) {
            const float *a = from + (size_t)h * W, *b = a + W;
            for (int j = 0; j < W / 2; j++) {
                float left = a[2 * j] > b[2 * j] ? a[2 * j] : b[2 * j];
                float right = a[2 * j + 1] > b[2 * j + 1] ? a[2 * j + 1] : b[2 * j + 1];
                to[j] = left > right ? left : right;
            }
        }
    }
}

static float window_max(const float *from, int W, int side)
{
    float max = from[0];
    for (int p = 0; p < side; p++)
        for (int q = 0; q < side; q++)
            max = from[(size_t)p * W + q] > max ? from[(size_t)p * W + q] : max;
    return max;
}

static void pool_maps(const float *from, float *to, size_t maps, int H, int W, int side)
{
    for (size_t m = 0; m < maps; m++, from += (size_t)H * W)
        for (int h = 0; h + side <= H; h += side)
            for (int w = 0; w + side <= W; w += side)
                *to++ = window_max(from + (size_t)h * W + w, W, side);
}

static void pool_piece(void *context, size_t piece)
{
    const struct pool_work *w = context;
    size_t first = piece * w->maps_per_piece, left = w->maps - first;
    const float *from = w->from + first * w->H * w->W;
    float *to = w->to + first * (w->H / w->side) * (w->W / w->side);
    left = left < w->maps_per_piece ? left : w->maps_per_piece;
    if (w->side == 2)
        pool_maps_2(from, to, left, w->H, w->W);
    else
        pool_maps(from, to, left, w->H, w->W, w->side);
}

void nn_pool(const float *from, float *to, size_t maps, int H, int W, int side)
{
    struct pool_work w = {from, to, maps, 1 + PIECE / ((size_t)H * W), H, W, side};
    parallel_for(pieces_of(maps, w.maps_per_piece), pool_piece, &w);
}

/* ---- fully connected ------------------------------------------------------------------------ */

enum { DENSE_LANES = 16, DENSE_ROWS = 8 };

struct dense_work {
    const float *from, *weight, *bias;
    float *to;
    size_t batch;
    int inputs, outputs;
};

/* Lane l sums the products l, l+16, l+32, ...; then lane l adds lane l+8, l+4, l+2, l+1. */
EACH_TARGET static float dot(const float *restrict a, const float *restrict b, int n)
{
    float sum[DENSE_LANES] = {0};
    int i = 0;
    for (; i + DENSE_LANES <= n; i += DENSE_LANES)
        for (int lane = 0; lane < DENSE_LANES; lane++)
            sum[lane] += a[i + lane] * b[i + lane];
    for (; i < n; i++)
        sum[i % DENSE_LANES] += a[i] * b[i];
    for (int half = DENSE_LANES / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++)
            sum[lane] += sum[lane + half];
    return sum[0];
}

static void dense_piece(void *context, size_t piece)
{
    const struct dense_work *w = context;
    size_t first = piece * DENSE_ROWS;
    for (size_t b = first; b < first + DENSE_ROWS && b < w->batch; b++)
        for (int o = 0; o < w->outputs; o++)
            w->to[b * w->outputs + o] =
                w->bias[o] +
                dot(w->from + b * w->inputs, w->weight + (size_t)o * w->inputs, w->inputs);
}

void nn_dense(const float *from, const float *weight, const float *bias, float *to, size_t batch,
              int inputs, int outputs)
{
    struct dense_work w = {from, weight, bias, to, batch, inputs, outputs};
    parallel_for(pieces_of(batch, DENSE_ROWS), dense_piece, &w);
}

/* ---- softmax -------------------------------------------------------------------------------- */

struct softmax_work {
    const float *from;
    float *to;
    size_t batch, rows_per_piece;
    int n;
};

/* e^z for z <= 0, treated as 0 below -120 (float32 ends at e^-104). */
static double exp_negative(double z)
{
    double scale, e = exp_parts(z < -120 ? -120 : z, &scale);
    return scale * e + scale;
}

static void softmax_row(const float *from, float *to, int n)
{
    double max = from[0], sum = 0;
    for (int i = 1; i < n; i++)
        max = from[i] > max ? from[i] : max;
    for (int i = 0; i < n; i++)
        sum += exp_negative(from[i] - max);
    for (int i = 0; i < n; i++)
        to[i] = (float)(exp_negative(from[i] - max) / sum);
}

static void softmax_piece(void *context, size_t piece)
{
    const struct softmax_work *w = context;
    size_t first = piece * w->rows_per_piece;
    for (size_t b = first; b < first + w->rows_per_piece && b < w->batch; b++)
        softmax_row(w->from + b * w->n, w->to + b * w->n, w->n);
}

void nn_softmax(const float *from, float *to, size_t batch, int n)
{
    struct softmax_work w = {from, to, batch, 1 + PIECE / ((size_t)n * 16), n};
    parallel_for(pieces_of(batch, w.rows_per_piece), softmax_piece, &w);
}
