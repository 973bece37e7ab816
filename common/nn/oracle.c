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
 *          x line   |0 . . . . . W-1|W . . . . .  |          y position |0 . . out|junk|W . . out|junk
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

/* ---- kernels ---------------------------------------------------------------------------------- */

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=fast")
#endif

enum { MAX_TILE_MAPS = 6, TILE_POSITIONS = 32 };

/** One tile: out[i][j] = sum over c, p, q of x[c*map_stride + p*W + q + j] * k[..][i].
 * @param k  [C][K][K][maps]
 * @param out  [maps][TILE_POSITIONS] */
typedef void tile_kernel(const struct conv_shape *s, const double *x, size_t map_stride,
                         const double *k, float (*out)[TILE_POSITIONS]);

/** Defines a tile_kernel for MAPS output maps, TILE_POSITIONS positions taken VECTORS vectors of
 * LANES float64 at a time. */
#define DEFINE_TILE_KERNEL(name, target, MAPS, VECTORS, LANES)                                     \
    target static void name(const struct conv_shape *s, const double *x, size_t map_stride,        \
                            const double *k, float (*out)[TILE_POSITIONS])                         \
    {                                                                                              \
        typedef double vector __attribute__((vector_size(LANES * 8), aligned(8)));                 \
        for (int j0 = 0; j0 < TILE_POSITIONS; j0 += VECTORS * LANES) {                             \
            vector sum[MAPS][VECTORS] = {0};                                                       \
            const double *weight = k;                                                              \
            for (int c = 0; c < s->C; c++) {                                                       \
                for (int p = 0; p < s->K; p++) {                                                   \
                    const double *row = x + c * map_stride + (size_t)p * s->W + j0;                \
                    for (int q = 0; q < s->K; q++, row++, weight += MAPS) {                        \
                        vector in[VECTORS];                                                        \
                        _Pragma("GCC unroll 8") for (int v = 0; v < VECTORS; v++) in[v] =          \
                            *(const vector *)(row + v * LANES);                                    \
                        _Pragma("GCC unroll 8") for (int i = 0; i < MAPS; i++)                     \
                            _Pragma("GCC unroll 8") for (int v = 0; v < VECTORS; v++)              \
                                sum[i][v] += in[v] * weight[i];                                    \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
            _Pragma("GCC unroll 8") for (int i = 0; i < MAPS; i++)                                 \
                _Pragma("GCC unroll 8") for (int v = 0; v < VECTORS; v++)                          \
                    _Pragma("GCC unroll 8") for (int l = 0; l < LANES; l++)                        \
                        out[i][j0 + v * LANES + l] = (float)sum[i][v][l];                          \
        }                                                                                          \
    }
DEFINE_TILE_KERNEL(tile_avx512, __attribute__((target("avx512f"))), 6, 4, 8)
DEFINE_TILE_KERNEL(tile_avx2, __attribute__((target("avx2,fma"))), 3, 4, 4)
DEFINE_TILE_KERNEL(tile_any, , 3, 4, 2)
#pragma GCC pop_options
