/** @file
 * The oracle: a convolution summed in float64, vectorised and blocked for registers.
 *
 * How one image is computed:
 *
 *   1. Its maps are converted to float64 once, each stored as one long line of H*W elements. Output
 *      (h, w) is then at position h*W + w of a line, and its operand for (c, p, q) is p*W + q
 *      elements further in the line of map c: for every (c, p, q), neighbouring outputs read
 *      neighbouring inputs, even across row ends. The K-1 positions at the end of each row that are
 *      not outputs are also computed, and discarded, which is faster than partial vectors.
 *
 *          x line        |0 . . . . . W-1|W . . . . . . .|
 *          y positions   |0 . . out|junk |W . . out|junk |
 *
 *   2. The weights are also converted once, to [block of maps][c,p,q][map within the block], the
 *      order in which they are used.
 *   3. A tile, some output maps x some vectors of positions, is kept in registers during the loops
 *      over c, p, q: each loaded input vector is used for all the tile's maps, each loaded weight
 *      for all its vectors (oracle_kernel.c).
 *
 * Why the bits are the same everywhere: every output has its own accumulator and is summed in the
 * order c, p, q, whatever the width of the vectors; and since a product of two float32 is exact in
 * float64, a fused multiply-add rounds like a multiply followed by an add.
 */
#include "nn/oracle.h"

#include "base/parallel.h"
#include "nn/oracle_kernel.h"

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

void nn_conv_tolerance(const struct conv_shape *s, double part, float x_max, const float *k,
                       float *atol)
{
    size_t n = (size_t)s->C * s->K * s->K;
    const double of_sum = part > 0 ? part : 6 * sqrt((double)n) * 0x1p-24;
    for (int m = 0; m < s->M; m++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += fabs((double)k[m * n + i]);
        atol[m] = (float)(of_sum * x_max * sum);
    }
}

/* ---- convolution ---------------------------------------------------------------------------- */

struct work {
    struct conv_shape s;
    const float *x, *k;
    float *y;
    const struct oracle_kernel *kernel; /* NULL: plain loops */
    int tile_maps;                      /* output maps in a tile of the kernel */
    int blocks;     /* blocks of tile_maps output maps, the last one padded with zero weights */
    double *packed; /* weights as [blocks][C][K][K][tile_maps]; NULL: plain loops */
    int splits;     /* number of pieces of an image, each a range of blocks */
};

/* Writes the outputs of a tile, starting at position first and map m, without row ends. */
static void store_tile(const struct work *w, int b, int m, size_t first,
                       float (*out)[ORACLE_POSITIONS])
{
    const struct conv_shape *s = &w->s;
    int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    int maps = s->M - m < w->tile_maps ? s->M - m : w->tile_maps;
    float *to = w->y + ((size_t)b * s->M + m) * H_out * W_out;
    for (size_t at = first; at < first + ORACLE_POSITIONS;) {
        size_t row = at / s->W, column = at % s->W, j = at - first;
        size_t run = s->W - column; /* positions to the end of this row or tile */
        if (run > ORACLE_POSITIONS - j)
            run = ORACLE_POSITIONS - j;
        if (row < (size_t)H_out && column < (size_t)W_out) {
            size_t valid = W_out - column < run ? W_out - column : run;
            for (int i = 0; i < maps; i++)
                memcpy(to + ((size_t)i * H_out + row) * W_out + column, out[i] + j,
                       valid * sizeof(float));
        }
        at += run;
    }
}

/* The plain loops for one output map of one image, used if out of memory. */
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

    /* A tile may read past the last element, for positions that are discarded. */
    size_t elems = (size_t)s->C * s->H * s->W, slack = ORACLE_POSITIONS;
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
    float out[ORACLE_MAX_MAPS][ORACLE_POSITIONS];
    for (int block = begin; block < end; block++) {
        for (size_t at = 0; at < positions; at += ORACLE_POSITIONS) {
            w->kernel->tile(s, line + at, w->packed + block * block_elems, out[0],
                            ORACLE_POSITIONS);
            store_tile(w, b, block * w->tile_maps, at, out);
        }
    }
    free(line);
}

/* Converts k [M][C*K*K] to float64 [blocks][C*K*K][tile_maps]. @return NULL: out of memory. */
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

void oracle_conv_using(const struct oracle_kernel *kernel, const struct conv_shape *shape,
                       const float *x, const float *k, float *y)
{
    struct work w = {.s = *shape, .x = x, .k = k, .y = y, .kernel = kernel};
    w.tile_maps = kernel ? kernel->maps : 1;
    w.blocks = (shape->M + w.tile_maps - 1) / w.tile_maps;
    w.packed = kernel ? pack_weights(&w) : NULL;
    /* With few images, the cores share each image, at most one core per block. */
    int cores = parallel_cores();
    w.splits = shape->B >= 4 * cores ? 1 : w.blocks < 4 * cores ? w.blocks : 4 * cores;
    parallel_for((size_t)shape->B * w.splits, do_piece, &w);
    free(w.packed);
}

void nn_oracle_conv(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    oracle_conv_using(oracle_kernel(0), shape, x, k, y);
}

/* ---- comparison ----------------------------------------------------------------------------- */

enum st_code nn_conv_compare(const struct conv_shape *s, const float *x, const float *k,
                             const float *y, size_t *wrong, double *largest, struct st_error *err)
{
    const size_t n = nn_conv_y_elems(s), map = n / (size_t)s->B / (size_t)s->M;
    float *ref = malloc(n * sizeof *ref), *atol = malloc((size_t)s->M * sizeof *atol);
    float x_max = 0;
    *wrong = 0;
    *largest = 0;
    if (!ref || !atol) {
        free(ref);
        free(atol);
        return st_fail(err, ST_NO_MEMORY, "not enough memory for the expected outputs");
    }
    for (size_t i = 0; i < nn_conv_x_elems(s); i++)
        x_max = fabsf(x[i]) > x_max ? fabsf(x[i]) : x_max;
    nn_oracle_conv(s, x, k, ref);
    nn_conv_tolerance(s, 0, x_max, k, atol);
    for (size_t i = 0; i < n; i++) {
        const double error = fabs((double)y[i] - (double)ref[i]);
        const double tolerance =
            (double)atol[i / map % (size_t)s->M] + (double)NN_RTOL * fabs((double)ref[i]);
        if (isfinite(error) && error > *largest)
            *largest = error;
        *wrong += !(error <= tolerance); /* written so that NaN fails */
    }
    free(ref);
    free(atol);
    return ST_OK;
}
