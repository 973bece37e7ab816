/** @file
 * The oracle: a convolution summed in float64, vectorised and blocked for registers.
 *
 * How one image is computed:
 *
 *   1. Its maps are converted to float64 once, each stored as one long line of H*W elements. Output
 *      (h, w) then sits at position h*W + w of a line, and its operand for (c, p, q) at the same
 *      position of map c plus p*W + q: for every (c, p, q), neighbouring outputs read neighbouring
 *      inputs, across row ends too. The K-1 positions at the end of each row that are not outputs
 *      are computed with the rest and thrown away; that is cheaper than ragged vectors.
 *
 *          x line   |0 . . . . . W-1|W . . . . .  |          y position |0 . . out|junk|W . .
 * out|junk
 *
 *   2. The weights are converted once as well, as [block of maps][c,p,q][map within the block], in
 *      the order in which they are used.
 *   3. A tile, TILE_MAPS output maps x TILE_VECTORS vectors of positions, is held in registers
 *      while c, p, q run: each loaded input vector serves TILE_MAPS maps, each loaded weight serves
 *      TILE_VECTORS vectors.
 *
 * Why the bits are the same everywhere: every output has its own accumulator and is summed in the
 * order c, p, q, whatever the width of the vectors; and since a product of two float32 is exact in
 * float64, a fused multiply-add and a multiply followed by an add round alike. So contraction, off
 * in the rest of the suite, is allowed in the kernels.
 */
#include "nn/oracle.h"

#include "base/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t nn_conv_x_elems(const struct conv_shape *s)
{
    return (size_t)s->B * s->C * s->H * s->W;
}

size_t nn_conv_k_elems(const struct conv_shape *s)
{
    return (size_t)s->M * s->C * s->K * s->K;
}

size_t nn_conv_y_elems(const struct conv_shape *s)
{
    return (size_t)s->B * s->M * (s->H - s->K + 1) * (s->W - s->K + 1);
}

double nn_conv_macs(const struct conv_shape *s)
{
    return (double)nn_conv_y_elems(s) * s->C * s->K * s->K;
}

void nn_conv_tolerance(const struct conv_shape *s, float x_max, const float *k, float *atol)
{
    size_t n = (size_t)s->C * s->K * s->K;
    for (int m = 0; m < s->M; m++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += fabs((double)k[m * n + i]);
        atol[m] = (float)(6 * sqrt((double)n) * 0x1p-24 * x_max * sum);
    }
}

/* ---- kernels -------------------------------------------------------------------------------- */

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=fast")
#endif

enum { TILE_POSITIONS = 32, MAX_TILE_MAPS = 6 };

/* A tile of some number of output maps, see nn/conv_tile.h. */
typedef void tile_kernel(const struct conv_shape *s, const double *x, const double *k, float *out,
                         size_t out_stride);

#define TILE_ELEM double
#if defined(__x86_64__)
#define TILE_NAME    tile_avx512
#define TILE_TARGET  __attribute__((target("avx512f")))
#define TILE_LANES   8
#define TILE_VECTORS 4
#define TILE_MAPS    6 /* 24 sums + 4 inputs + weights in 32 registers */
#include "nn/conv_tile.h"

#define TILE_NAME    tile_avx2
#define TILE_TARGET  __attribute__((target("avx2,fma")))
#define TILE_LANES   4
#define TILE_VECTORS 4
#define TILE_MAPS    3 /* 12 sums + 4 inputs in 16 registers */
#include "nn/conv_tile.h"
#endif

#define TILE_NAME tile_any
#define TILE_TARGET
#define TILE_LANES   2
#define TILE_VECTORS 4
#define TILE_MAPS    3
#include "nn/conv_tile.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

/* ---- around the kernels --------------------------------------------------------------------- */

struct work {
    struct conv_shape s;
    const float *x, *k;
    float *y;
    tile_kernel *kernel;
    int tile_maps;  /* output maps in a tile of that kernel */
    int blocks;     /* blocks of tile_maps output maps, the last one padded with zero weights */
    double *packed; /* weights as [blocks][C][K][K][tile_maps] */
    int splits;     /* pieces an image is cut into, each a range of blocks */
};

/* Writes what of a tile is output: positions first.. of maps m.. , with row ends left out. */
static void store_tile(const struct work *w, int b, int m, size_t first,
                       float (*out)[TILE_POSITIONS])
{
    const struct conv_shape *s = &w->s;
    int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    int maps = s->M - m < w->tile_maps ? s->M - m : w->tile_maps;
    float *to = w->y + ((size_t)b * s->M + m) * H_out * W_out;
    for (size_t at = first; at < first + TILE_POSITIONS;) {
        size_t row = at / s->W, column = at % s->W, j = at - first;
        size_t run = s->W - column; /* positions to the end of this row or tile */
        if (run > TILE_POSITIONS - j)
            run = TILE_POSITIONS - j;
        if (row < (size_t)H_out && column < (size_t)W_out) {
            size_t valid = W_out - column < run ? W_out - column : run;
            for (int i = 0; i < maps; i++)
                memcpy(to + ((size_t)i * H_out + row) * W_out + column, out[i] + j,
                       valid * sizeof(float));
        }
        at += run;
    }
}

/* The definition itself, one output map of one image; for when there is no memory to be quicker. */
static void plain_map(const struct work *w, int b, int m)
{
    const struct conv_shape *s = &w->s;
    const float *x = w->x + (size_t)b * s->C * s->H * s->W;
    const float *k = w->k + (size_t)m * s->C * s->K * s->K;
    int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    float *y = w->y + ((size_t)b * s->M + m) * H_out * W_out;
    for (int h = 0; h < H_out; h++) {
        for (int col = 0; col < W_out; col++) {
            double sum = 0;
            for (int c = 0; c < s->C; c++)
                for (int p = 0; p < s->K; p++)
                    for (int q = 0; q < s->K; q++)
                        sum += (double)x[((size_t)c * s->H + h + p) * s->W + col + q] *
                               k[((size_t)c * s->K + p) * s->K + q];
            y[(size_t)h * W_out + col] = (float)sum;
        }
    }
}

static void do_piece(void *context, size_t piece)
{
    const struct work *w = context;
    const struct conv_shape *s = &w->s;
    int b = (int)(piece / w->splits), split = (int)(piece % w->splits);
    int begin = (int)((long)w->blocks * split / w->splits);
    int end = (int)((long)w->blocks * (split + 1) / w->splits);

    /* A tile may read past the last element, for positions that are thrown away. */
    size_t elems = (size_t)s->C * s->H * s->W, slack = TILE_POSITIONS;
    double *line = w->packed ? malloc((elems + slack) * sizeof *line) : NULL;
    if (!line) {
        for (int m = begin * w->tile_maps; m < end * w->tile_maps && m < s->M; m++)
            plain_map(w, b, m);
        return;
    }
    const float *x = w->x + b * elems;
    for (size_t i = 0; i < elems; i++)
        line[i] = x[i];
    memset(line + elems, 0, slack * sizeof *line);

    size_t positions = (size_t)(s->H - s->K) * s->W + (s->W - s->K + 1);
    size_t block_elems = (size_t)s->C * s->K * s->K * w->tile_maps;
    float out[MAX_TILE_MAPS][TILE_POSITIONS];
    for (int block = begin; block < end; block++) {
        for (size_t at = 0; at < positions; at += TILE_POSITIONS) {
            w->kernel(s, line + at, w->packed + block * block_elems, out[0], TILE_POSITIONS);
            store_tile(w, b, block * w->tile_maps, at, out);
        }
    }
    free(line);
}

static void choose_kernel(struct work *w)
{
    w->kernel = tile_any, w->tile_maps = 3;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        w->kernel = tile_avx512, w->tile_maps = 6;
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        w->kernel = tile_avx2, w->tile_maps = 3;
#endif
}

/* k [M][C*K*K] to float64 [blocks][C*K*K][tile_maps]. @return NULL without memory. */
static double *pack_weights(const struct work *w)
{
    const struct conv_shape *s = &w->s;
    size_t n = (size_t)s->C * s->K * s->K;
    double *packed = calloc((size_t)w->blocks * n * w->tile_maps, sizeof *packed);
    for (int m = 0; packed && m < s->M; m++)
        for (size_t i = 0; i < n; i++)
            packed[((m / w->tile_maps) * n + i) * w->tile_maps + m % w->tile_maps] =
                w->k[m * n + i];
    return packed;
}

void nn_oracle_conv(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    struct work w = {.s = *shape, .x = x, .k = k, .y = y};
    choose_kernel(&w);
    w.blocks = (shape->M + w.tile_maps - 1) / w.tile_maps;
    w.packed = pack_weights(&w);
    /* With few images the cores share each image, as far as it has blocks to share. */
    int cores = parallel_cores();
    w.splits = shape->B >= 4 * cores ? 1 : w.blocks < 4 * cores ? w.blocks : 4 * cores;
    parallel_for((size_t)shape->B * w.splits, do_piece, &w);
    free(w.packed);
}
