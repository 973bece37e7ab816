#include "data/train/train_conv.h"

#include "base/clones.h"

#include <assert.h>
#include <string.h>

/* ---- forward -------------------------------------------------------------------------------- */

/* All kernels take the same number of maps, so that weights are packed in one way. */
enum { TILE_POSITIONS = 64, MAPS = 6 };
_Static_assert((int)TILE_POSITIONS <= (int)TRAIN_SLACK, "tiles read at most the slack");

#define TILE_ELEM float
#if defined(__x86_64__)
#define TILE_NAME    tile_avx512
#define TILE_TARGET  __attribute__((target("avx512f")))
#define TILE_LANES   16
#define TILE_VECTORS 4
#define TILE_MAPS    6
#include "nn/conv_tile.h"

#define TILE_NAME    tile_avx2
#define TILE_TARGET  __attribute__((target("avx2")))
#define TILE_LANES   8
#define TILE_VECTORS 2
#define TILE_MAPS    6
#include "nn/conv_tile.h"
#endif

#define TILE_NAME tile_any
#define TILE_TARGET
#define TILE_LANES   4
#define TILE_VECTORS 2
#define TILE_MAPS    6
#include "nn/conv_tile.h"

static size_t blocks_of(const struct conv_shape *s)
{
    return ((size_t)s->M + MAPS - 1) / MAPS;
}

size_t train_conv_plane(const struct conv_shape *s)
{
    size_t positions = (size_t)(s->H - s->K) * s->W + (s->W - s->K + 1);
    return (positions + TILE_POSITIONS - 1) / TILE_POSITIONS * TILE_POSITIONS;
}

size_t train_conv_y_elems(const struct conv_shape *s)
{
    return blocks_of(s) * MAPS * train_conv_plane(s);
}

size_t train_conv_tiles_elems(const struct conv_shape *s)
{
    return blocks_of(s) * MAPS * s->C * s->K * s->K;
}

size_t train_conv_rows_elems(const struct conv_shape *s)
{
    return (size_t)s->M * s->C * s->K * TRAIN_ROW;
}

void train_conv_pack(const struct conv_shape *s, const float *k, struct train_packed *packed)
{
    assert(s->K <= TRAIN_ROW);
    size_t n = (size_t)s->C * s->K * s->K, rows = (size_t)s->M * s->C * s->K;
    memset(packed->tiles, 0, train_conv_tiles_elems(s) * sizeof(float));
    for (int m = 0; m < s->M; m++)
        for (size_t i = 0; i < n; i++)
            packed->tiles[((m / MAPS) * n + i) * MAPS + m % MAPS] = k[m * n + i];
    memset(packed->rows, 0, train_conv_rows_elems(s) * sizeof(float));
    for (size_t row = 0; row < rows; row++)
        memcpy(packed->rows + row * TRAIN_ROW, k + row * s->K, s->K * sizeof(float));
}

typedef void tile_kernel(const struct conv_shape *s, const float *x, const float *k, float *out,
                         size_t out_stride);

/* Lists the kernels that this machine can run, widest vectors first. @return how many. */
static int usable_kernels(tile_kernel *list[3])
{
    int n = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        list[n++] = tile_avx512;
    if (__builtin_cpu_supports("avx2"))
        list[n++] = tile_avx2;
#endif
    list[n++] = tile_any;
    return n;
}

int train_conv_kernels(void)
{
    tile_kernel *list[3];
    return usable_kernels(list);
}

void train_conv_forward_using(int kernel, const struct conv_shape *s, const float *x,
                              const struct train_packed *packed, float *y)
{
    tile_kernel *list[3];
    int usable = usable_kernels(list);
    assert(kernel >= 0 && kernel < usable);
    (void)usable;
    size_t plane = train_conv_plane(s), block_elems = (size_t)s->C * s->K * s->K * MAPS;
    for (size_t block = 0; block < blocks_of(s); block++)
        for (size_t at = 0; at < plane; at += TILE_POSITIONS)
            list[kernel](s, x + at, packed->tiles + block * block_elems,
                         y + block * MAPS * plane + at, plane);
}

void train_conv_forward(const struct conv_shape *s, const float *x,
                        const struct train_packed *packed, float *y)
{
    train_conv_forward_using(0, s, x, packed, y);
}

/* ---- gradients ------------------------------------------------------------------------------ */

/* One row of a filter or of the input under it. The results of lanes from K on are unused. */
typedef float row8 __attribute__((vector_size(TRAIN_ROW * sizeof(float)), aligned(sizeof(float))));

/* dk[m][c][p][q] += sum over the maxima of dy * x[c][h + p][w + q]. K is a separate parameter so
 * that a constant can be passed, which keeps the sums in registers. */
static inline __attribute__((always_inline)) void
weight_gradient(const int K, const struct conv_shape *s, const float *x,
                const struct train_maxima *dy, float *dk)
{
    for (int m = 0; m < s->M; m++) {
        const int *at = dy->at + m * dy->per_map;
        const float *value = dy->value + m * dy->per_map;
        for (int c = 0; c < s->C; c++, dk += K * K) {
            const float *map = x + (size_t)c * s->H * s->W;
            row8 sum[TRAIN_ROW] = {{0}};
            for (size_t i = 0; i < dy->per_map; i++) {
                const float *from = map + at[i];
#pragma GCC unroll 8
                for (int p = 0; p < K; p++)
                    sum[p] += *(const row8 *)(from + (size_t)p * s->W) * value[i];
            }
#pragma GCC unroll 8
            for (int p = 0; p < K; p++)
                for (int q = 0; q < K; q++)
                    dk[p * K + q] += sum[p][q];
        }
    }
}

EACH_TARGET static void weight_gradient_5(const struct conv_shape *s, const float *x,
                                          const struct train_maxima *dy, float *dk)
{
    weight_gradient(5, s, x, dy, dk);
}

EACH_TARGET static void weight_gradient_7(const struct conv_shape *s, const float *x,
                                          const struct train_maxima *dy, float *dk)
{
    weight_gradient(7, s, x, dy, dk);
}

void train_conv_weight_gradient(const struct conv_shape *s, const float *x,
                                const struct train_maxima *dy, float *dk)
{
    if (s->K == 5)
        weight_gradient_5(s, x, dy, dk);
    else if (s->K == 7)
        weight_gradient_7(s, x, dy, dk);
    else
        weight_gradient(s->K, s, x, dy, dk);
}

/* Every maximum adds its filter, scaled, to the inputs under it. The maps are the inner loop, so
 * that a row of dx is not read right after it was written. */
EACH_TARGET static void input_gradient(const struct conv_shape *s, const float *rows,
                                       const struct train_maxima *dy, float *dx)
{
    for (int m = 0; m < s->M; m++, rows += (size_t)s->C * s->K * TRAIN_ROW) {
        for (size_t i = 0; i < dy->per_map; i++) {
            float value = dy->value[m * dy->per_map + i];
            const row8 *row = (const row8 *)rows;
            for (int c = 0; c < s->C; c++) {
                float *to = dx + (size_t)c * s->H * s->W + dy->at[m * dy->per_map + i];
                for (int p = 0; p < s->K; p++, row++, to += s->W)
                    *(row8 *)to += *row * value;
            }
        }
    }
}

void train_conv_input_gradient(const struct conv_shape *s, const struct train_packed *packed,
                               const struct train_maxima *dy, float *dx)
{
    memset(dx, 0, ((size_t)s->C * s->H * s->W + TRAIN_SLACK) * sizeof(float));
    input_gradient(s, packed->rows, dy, dx);
}
