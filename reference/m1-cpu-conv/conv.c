/** @file
 * Milestone m1: the forward pass of a convolution layer, on the CPU.
 *
 * common/conv.h is the contract: the arguments of conv_forward(), the required y, and where
 * scratch memory comes from.
 */
/* BEGIN SOLUTION */
//~ /* You write conv_forward(). Start with the seven loops of the assignment page (README.md in
//~  * this folder): correct first, then fast. Add functions, types and #include lines as you need
//~  * them; everything stays in this one file. Say here, in a few lines, what your version does and
//~  * what each improvement brought. */
//~
/*
 * The file has three steps. GMAC/s (10^9 multiply-adds per second) at 1000 images, on 2 cores of an
 * AVX-512 server, for the layers              70x70 1->12    33x33 12->24    28x28 1->50
 *   1  seven loops, one core                     1.5             0.8             1.5
 *   2  register tile over shifted copies of x     56             126              50
 *   3  streaming stores                           80             129              75
 * Other programs ran on that machine: a figure can be off by a third, but the ranking was the same.
 *
 * Why step 1 is slow. Each multiply-add waits for the one before it (they add to the same sum, 4
 * cycles apart), uses one of 16 lanes of a vector register, and loads both of its factors. A core
 * could start 2 multiply-adds of 16 lanes in every cycle: 32 instead of 1/4, 128 times as many.
 *
 * Step 2, the register tile. BLK_MAPS output maps times BLK_VECS vectors of neighbouring outputs
 * are summed at once, in 24 registers. Per tap (c,p,q), 4 vectors of x and 6 weights are loaded and
 * used for 24 multiply-adds: 24 independent sums hide the latency, and 10 loads for 24
 * multiply-adds leave the load units idle part of the time. Expected: close to 128 times step 1, on
 * each core. Measured in layer 2: 157 times on two cores, which is 60% of that.
 *
 * But rows are short: 29 outputs fill 1.8 vectors. So a vector continues past the end of a row into
 * the next row, which needs the x of both rows next to each other. They are not: a row of x is K-1
 * longer than a row of y. Hence there are K copies of x: copy q is shifted left by q and cut to
 * W_out columns (here W = 5, K = 3, so W_out = 3):
 *
 *      x          copy 0     copy 1     copy 2
 *      a b c d e  a b c      b c d      c d e         y[o], o = h*W_out + w, is the sum over c,p,q
 *      f g h i j  f g h      g h i      h i j         of k[m,c,p,q] * copy[c,q][o + p*W_out]
 *      k l m n o  k l m      l m n      m n o
 *
 * Now 16 neighbouring outputs need 16 neighbouring inputs for every tap, whatever the row length.
 * The copies cost K stores per input; each copy is used by M*K multiply-adds.
 *
 * See README.md in this folder for the reasons, expected and measured results, and failed attempts.
 */
/* END SOLUTION */
#include "conv.h"
/* BEGIN SOLUTION */

#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#if defined(__SSE__)
#include <immintrin.h>
#endif

/** Step 1, the definition itself. conv_forward() uses this function for layers so small that
 * preparing anything would take longer. It is not static, so that the benchmark can time it. */
int conv_seven_loops(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    const size_t B = shape->B, M = shape->M, C = shape->C;
    const size_t H = shape->H, W = shape->W, K = shape->K;
    const size_t H_out = H - K + 1, W_out = W - K + 1;

    for (size_t b = 0; b < B; b++)                 /* every image */
        for (size_t m = 0; m < M; m++)             /* every output map */
            for (size_t h = 0; h < H_out; h++)     /* every output row */
                for (size_t w = 0; w < W_out; w++) /* every output column */
                {
                    float sum = 0.0f;
                    for (size_t c = 0; c < C; c++)         /* every input map */
                        for (size_t p = 0; p < K; p++)     /* every row of the filter */
                            for (size_t q = 0; q < K; q++) /* every column of the filter */
                                sum += x[((b * C + c) * H + h + p) * W + w + q] *
                                       k[((m * C + c) * K + p) * K + q];
                    y[((b * M + m) * H_out + h) * W_out + w] = sum;
                }
    return 0;
}

/* A vector is as wide as the vector registers of the target machine. BLK_MAPS * BLK_VECS sums,
 * BLK_VECS inputs and one weight must fit into these registers: 32 with AVX-512, 16 otherwise. */
#if defined(__AVX512F__)
#define VEC_LANES             16
#define BLK_VECS              4
#define STREAM_VEC(to, value) _mm512_stream_ps(to, (__m512)(value))
#elif defined(__AVX__)
#define VEC_LANES             8
#define BLK_VECS              2
#define STREAM_VEC(to, value) _mm256_stream_ps(to, (__m256)(value))
#elif defined(__SSE__)
#define VEC_LANES             4
#define BLK_VECS              2
#define STREAM_VEC(to, value) _mm_stream_ps(to, (__m128)(value))
#else
#define VEC_LANES             4
#define BLK_VECS              2
#define STREAM_VEC(to, value) (*(vec_at *)(to) = (value))
#endif
#define BLK_MAPS 6

/* Sizes of the blocks, and thresholds of the fast path and of streaming stores. */
enum {
    BLK_ELEMS = 2048,       /* outputs of a map per block: with 6 maps, 48 KiB of results */
    COPY_ELEMS = 1 << 17,   /* floats in the shifted copies of a block: 512 KiB, in level-2 cache */
    PLAIN_MACS = 1500,      /* 2 us in seven loops; below this, packing and threads cost more */
    STREAM_BYTES = 1 << 22, /* streaming gains above this; a smaller y fits into level-2 caches */
    ALIGN_ELEMS = 64        /* buffers begin on multiples of this many floats */
};

#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif
#if defined(__clang__) && defined(__AVX512F__)
#define WIDE_VECTORS __attribute__((min_vector_width(512))) /* clang would halve the vectors */
#else
#define WIDE_VECTORS
#endif

/** A vector of floats in a register, and a vector in memory at any address. */
typedef float vec __attribute__((vector_size(VEC_LANES * sizeof(float))));
typedef float vec_at __attribute__((vector_size(VEC_LANES * sizeof(float)), aligned(4), may_alias));

/** How a layer is cut into pieces, and where a thread's buffers are.
 *
 * Output maps are cut into groups of up to BLK_MAPS, output rows into blocks. A piece of work is
 * (image, block of rows, part of the groups). Workspace, in floats:
 *
 *     | weights: M*C*K*K | thread 0: copies C*K*plane, results BLK_MAPS*pitch | thread 1: ... |
 */
struct plan {
    size_t B, M, C, H, W, K, H_out, W_out;
    size_t groups, blocks, parts;
    size_t plane;        /**< floats from one shifted copy to the next */
    size_t pitch;        /**< floats from one map's results to the next */
    size_t weight_elems; /**< size of the packed weights */
    size_t thread_elems; /**< size of one thread's buffers */
    bool stream;         /**< y is written with streaming stores */
};

static size_t ceil_div(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

static size_t round_up(size_t a, size_t b)
{
    return ceil_div(a, b) * b;
}

static size_t clamp(size_t value, size_t lo, size_t hi)
{
    return value < lo ? lo : value > hi ? hi : value;
}

/** Computes where part @p i of @p n nearly equal parts of @p total begins. */
static size_t cut(size_t total, size_t n, size_t i)
{
    return total * i / n;
}

static struct plan plan_make(const struct conv_shape *shape, size_t threads)
{
    struct plan l = {.B = shape->B, .M = shape->M, .C = shape->C};
    l.H = shape->H, l.W = shape->W, l.K = shape->K;
    l.H_out = l.H - l.K + 1, l.W_out = l.W - l.K + 1;
    const size_t outputs = l.H_out * l.W_out;

    /* Blocks are small enough for the caches but, if possible, not smaller than a tile. */
    size_t blocks = ceil_div(outputs, BLK_ELEMS);
    const size_t blocks_for_copies = l.C * l.K * l.H * l.W_out / COPY_ELEMS;
    if (blocks < blocks_for_copies)
        blocks = blocks_for_copies;
    /* If there are few images, four pieces per thread keep all threads busy to the end: first by
     * more blocks, then by separate groups. */
    if (blocks < ceil_div(4 * threads, l.B))
        blocks = ceil_div(4 * threads, l.B);
    l.blocks = clamp(clamp(blocks, 1, l.H_out), 1, ceil_div(outputs, BLK_VECS * VEC_LANES));
    l.groups = ceil_div(l.M, BLK_MAPS);
    l.parts = clamp(ceil_div(4 * threads, l.B * l.blocks), 1, l.groups);

    const size_t rows = ceil_div(l.H_out, l.blocks);
    l.plane = round_up((rows + l.K - 1) * l.W_out, VEC_LANES);
    l.pitch = round_up(rows * l.W_out, ALIGN_ELEMS);
    l.weight_elems = round_up(l.M * l.C * l.K * l.K, ALIGN_ELEMS);
    /* The last vector of a tile may read past the end of the copies, by less than ALIGN_ELEMS. */
    l.thread_elems = round_up(l.C * l.K * l.plane, ALIGN_ELEMS) + ALIGN_ELEMS + BLK_MAPS * l.pitch;
    l.stream = l.B * l.M * outputs * sizeof(float) > STREAM_BYTES;
    return l;
}

/** Packs the weights in the order in which tiles use them: for each group [C][q][p][maps of the
 * group]. */
static void pack_weights(const struct plan *l, const float *k, float *packed)
{
    for (size_t g = 0; g < l->groups; g++)
        for (size_t c = 0; c < l->C; c++)
            for (size_t q = 0; q < l->K; q++)
                for (size_t p = 0; p < l->K; p++)
                    for (size_t m = cut(l->M, l->groups, g); m < cut(l->M, l->groups, g + 1); m++)
                        *packed++ = k[((m * l->C + c) * l->K + p) * l->K + q];
}

/** Copies one row. The last vector begins earlier, so that it ends with the row instead of past
 * it. */
INLINE void copy_row(float *to, const float *from, size_t n)
{
    if (n < VEC_LANES) {
        for (size_t i = 0; i < n; i++)
            to[i] = from[i];
        return;
    }
    for (size_t i = 0; i + VEC_LANES < n; i += VEC_LANES)
        *(vec_at *)(to + i) = *(const vec_at *)(from + i);
    *(vec_at *)(to + n - VEC_LANES) = *(const vec_at *)(from + n - VEC_LANES);
}

/** Makes the shifted copies [C][K][rows][W_out] of one image's rows from @p h0 up to @p h1.
 * @param x  the image, [C][H][W] */
static void copy_shifted(const struct plan *l, const float *x, size_t h0, size_t h1, float *copies)
{
    for (size_t c = 0; c < l->C; c++)
        for (size_t q = 0; q < l->K; q++) {
            float *to = copies + (c * l->K + q) * l->plane;
            for (size_t h = h0; h < h1; h++, to += l->W_out)
                copy_row(to, x + (c * l->H + h) * l->W + q, l->W_out);
        }
}

/** The register tile: @p maps output maps times @p vecs vectors of neighbouring outputs. Both are
 * constants wherever this function is inlined, so that the loops over them are unrolled and sum[][]
 * stays in registers.
 * @param x  the first input of these outputs in copy (c = 0, q = 0)
 * @param k    the group's packed weights
 * @param out  the results; maps are l->pitch floats apart */
WIDE_VECTORS INLINE void tile(int maps, int vecs, const struct plan *l, const float *x,
                              const float *k, float *out)
{
    vec sum[BLK_MAPS][BLK_VECS] = {{{0}}};
    for (size_t cq = 0; cq < l->C * l->K; cq++, x += l->plane) {
        const float *row = x;
        for (size_t p = 0; p < l->K; p++, row += l->W_out, k += maps) {
            vec in[BLK_VECS];
            UNROLL for (int v = 0; v < vecs; v++)
            {
                in[v] = *(const vec_at *)(row + v * VEC_LANES);
            }
            UNROLL for (int m = 0; m < maps; m++)
            {
                UNROLL for (int v = 0; v < vecs; v++)
                {
                    sum[m][v] += k[m] * in[v];
                }
            }
        }
    }
    UNROLL for (int m = 0; m < maps; m++)
    {
        UNROLL for (int v = 0; v < vecs; v++)
        {
            *(vec_at *)(out + m * l->pitch + v * VEC_LANES) = sum[m][v];
        }
    }
}

/* One function per size of tile, in a table [vectors - 1][maps - 1]. */
typedef void tile_function(const struct plan *l, const float *x, const float *k, float *out);
#define TILE(maps, vecs)                                                                           \
    WIDE_VECTORS static void tile_##maps##x##vecs(const struct plan *l, const float *x,            \
                                                  const float *k, float *out)                      \
    {                                                                                              \
        tile(maps, vecs, l, x, k, out);                                                            \
    }
#define TILES(vecs)                                                                                \
    TILE(1, vecs) TILE(2, vecs) TILE(3, vecs) TILE(4, vecs) TILE(5, vecs) TILE(6, vecs)
#define TILE_NAMES(vecs)                                                                           \
    {                                                                                              \
        tile_1x##vecs, tile_2x##vecs, tile_3x##vecs, tile_4x##vecs, tile_5x##vecs, tile_6x##vecs   \
    }
/* clang-format off */
TILES(1)
TILES(2)
#if BLK_VECS == 4
TILES(3)
TILES(4)
static tile_function *const tiles[BLK_VECS][BLK_MAPS] = {
    TILE_NAMES(1), TILE_NAMES(2), TILE_NAMES(3), TILE_NAMES(4)};
#else
static tile_function *const tiles[BLK_VECS][BLK_MAPS] = {TILE_NAMES(1), TILE_NAMES(2)};
#endif
/* clang-format on */

/** Writes a run of results to y; writes whole vectors to aligned addresses. */
static void store_run(float *y, const float *from, size_t n, bool stream)
{
    size_t i = 0;
    for (; i < n && (uintptr_t)(y + i) % sizeof(vec) != 0; i++)
        y[i] = from[i];
    if (stream)
        for (; i + VEC_LANES <= n; i += VEC_LANES)
            STREAM_VEC(y + i, *(const vec_at *)(from + i));
    else
        for (; i + VEC_LANES <= n; i += VEC_LANES)
            *(vec_at *)(y + i) = *(const vec_at *)(from + i);
    for (; i < n; i++)
        y[i] = from[i];
}

/** Computes one piece of work: image @p b, block of rows @p block, part @p part of the groups of
 * maps. */
static void conv_piece(const struct plan *l, size_t b, size_t block, size_t part, const float *x,
                       const float *packed, float *buffers, float *y)
{
    const size_t h0 = cut(l->H_out, l->blocks, block), h1 = cut(l->H_out, l->blocks, block + 1);
    const size_t n = (h1 - h0) * l->W_out;
    float *copies = buffers, *results = buffers + l->thread_elems - BLK_MAPS * l->pitch;

    copy_shifted(l, x + b * l->C * l->H * l->W, h0, h1 + l->K - 1, copies);
    for (size_t g = cut(l->groups, l->parts, part); g < cut(l->groups, l->parts, part + 1); g++) {
        const size_t m0 = cut(l->M, l->groups, g), m1 = cut(l->M, l->groups, g + 1);
        const float *weights = packed + m0 * l->C * l->K * l->K;
        for (size_t o = 0; o < n; o += BLK_VECS * VEC_LANES) {
            const size_t vecs = clamp(ceil_div(n - o, VEC_LANES), 1, BLK_VECS);
            tiles[vecs - 1][m1 - m0 - 1](l, copies + o, weights, results + o);
        }
        for (size_t m = m0; m < m1; m++)
            store_run(y + ((b * l->M + m) * l->H_out + h0) * l->W_out,
                      results + (m - m0) * l->pitch, n, l->stream);
    }
}
/* END SOLUTION */

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    /* BEGIN SOLUTION */
    //~ /* Returning 1 means that this is not implemented yet. Write the convolution here, and
    //~  * return 0 at the end. The sizes are shape->B, shape->M and so on. y holds garbage on
    //~  * entry, and every element of it must be written. Delete the next line when you use
    //~  * its parameters. */
    //~ (void)shape, (void)x, (void)k, (void)y;
    //~ return 1;
    const size_t threads = omp_get_max_threads();
    const struct plan l = plan_make(shape, threads);
    if (l.B * l.M * l.H_out * l.W_out * l.C * l.K * l.K <= PLAIN_MACS)
        return conv_seven_loops(shape, x, k, y);

    float *packed = conv_workspace((l.weight_elems + threads * l.thread_elems) * sizeof(float));
    if (packed == NULL)
        return 1;
    pack_weights(&l, k, packed);
#pragma omp parallel num_threads(threads)
    {
        float *buffers = packed + l.weight_elems + omp_get_thread_num() * l.thread_elems;
#pragma omp for collapse(3) schedule(dynamic)
        for (size_t b = 0; b < l.B; b++)
            for (size_t block = 0; block < l.blocks; block++)
                for (size_t part = 0; part < l.parts; part++)
                    conv_piece(&l, b, block, part, x, packed, buffers, y);
#if defined(__SSE__)
        _mm_sfence(); /* only a fence orders streaming stores */
#endif
    }
    return 0;
    /* END SOLUTION */
}
