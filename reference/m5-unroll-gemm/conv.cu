/** @file
 * Milestone m5: the forward pass of a convolution layer on a GPU, as unrolling and a matrix
 * multiply.
 *
 * common/conv.h is the contract: the arguments of conv_forward(), the required y, and where
 * scratch memory comes from. x, k and y are device pointers; conv_workspace() returns one, too.
 */
/* BEGIN SOLUTION */
//~ /* You write two kernels: one that writes the unrolled input, and one that multiplies it by
//~  * the weights, in tiles staged in shared memory. conv_forward() launches them in turn, for as
//~  * many columns at a time as fit into the scratch memory. The assignment page (README.md in
//~  * this folder) has a drawing to begin with. Say here, in a few lines, what was wrong with
//~  * your m4, what gain or loss you expected and why, and what you measured. */
//~
/*
 * The idea. Write the window of every output pixel as a column of L = C * K * K numbers, side by
 * side for all pixels of all images. Then y is a product of matrices: M rows of L weights, as k
 * has them, times this unrolled input.
 *
 *                               columns: n = (b * H_out + h) * W_out + w
 *                              +----------+-------------------+---------+
 *                  rows:       |  chunk   |  the next chunk,  |         |   u, in scratch memory
 *            (c * K + p) * K   |  of u    |  into the same    |  . . .  |
 *                    + q       |          |  memory           |         |
 *                              +----------+-------------------+---------+
 *       +-------------------+  +----------+-------------------+---------+
 *     M | k                 |  |          |                   |         |   y[b, m, pixel]
 *       +-------------------+  +----------+-------------------+---------+
 *                L
 *
 *     for each chunk:   unroll()     writes it; a thread writes K x K elements of one column
 *                       multiply()   multiplies k by it, and writes the chunk's part of y
 *
 *     multiply(): a block computes 12 rows by 256 columns of the product, in steps of 8 along L
 *
 *                              |  256 columns  |
 *                          8 { |  staged u     |       per step: copy, barrier, multiply, barrier
 *           8                  +---------------+
 *       +--------+             | thread 0: columns 0, 64, 128, 192 of rows 0-5
 *    12 | staged |          12 | thread 1: columns 1, 65, 129, 193 of rows 0-5
 *       |   k    |             | . . .  thread 64: columns 0, 64, ... of rows 6-11
 *       +--------+             +---------------+
 *
 * See README.md in this folder for the reasons, expected and measured results, and failed attempts.
 */
/* END SOLUTION */
#include "conv.h"
/* BEGIN SOLUTION */

#include <stdio.h>

/* Parameters: `grader sweep` compiles with other values, as -DBLK_N=128. */
#ifndef BLK_M
#define BLK_M 12 /* a block of multiply() computes BLK_M rows */
#endif
#ifndef BLK_N
#define BLK_N 256 /* and BLK_N columns of the product, */
#endif
#ifndef BLK_L
#define BLK_L 8 /* in steps of BLK_L along the sum; */
#endif
#ifndef ROWS
#define ROWS 6 /* each of its threads computes ROWS rows ... */
#endif
#ifndef COLUMNS
#define COLUMNS 4 /* ... and COLUMNS columns, THREADS_N apart */
#endif
#define THREADS_N (BLK_N / COLUMNS)
#define THREADS   (BLK_M / ROWS * THREADS_N)
#ifndef THREADS_TO_UNROLL
#define THREADS_TO_UNROLL 256
#endif
#define CHUNK_BYTES  ((size_t)256 << 20) /* maximum bytes of the unrolled matrix at a time */
#define GRID_DIM_Y_Z 65535               /* maximum number of blocks along y, and along z */

static_assert(BLK_M % ROWS == 0 && BLK_N % COLUMNS == 0, "a block is made of threads' parts");
static_assert(BLK_N % 4 == 0, "columns are copied four at a time");

static_assert(THREADS_N % 32 == 0, "the threads of a warp share their rows");
static_assert(BLK_L * BLK_N / 4 % THREADS == 0, "all threads copy alike");

/* The columns of the unrolled matrix that are in memory at a time: `count` columns, from `first`
 * on. A row is padded with zeros to `pitch` elements, a multiple of BLK_N. */
struct chunk {
    size_t first;
    unsigned count, pitch;
};

/** Writes a chunk of the unrolled matrix u [C*K*K][pitch]: column n is the window of output pixel
 * n of the batch, that is, of y[b, any map, h, w] with n = (b * H_out + h) * W_out + w. A thread
 * copies the K x K elements that one window has in one input map.
 * @pre gridDim = (enough for pitch, at most C) */
__global__ void unroll(struct conv_shape shape, struct chunk chunk, const float *x, float *u)
{
    const size_t C = shape.C, H = shape.H, W = shape.W, H_out = H - shape.K + 1,
                 W_out = W - shape.K + 1;
    const int K = shape.K;
    const unsigned column = blockIdx.x * THREADS_TO_UNROLL + threadIdx.x;
    if (column >= chunk.pitch)
        return;
    const bool padding = column >= chunk.count;
    const size_t n = chunk.first + column, pixel = n % (H_out * W_out), b = n / (H_out * W_out);
    const size_t h = pixel / W_out, w = pixel % W_out;

    for (size_t c = blockIdx.y; c < C; c += gridDim.y) { /* once, unless C > 65535 */
        const float *window = x + ((b * C + c) * H + h) * W + w;
        float *to = u + c * K * K * chunk.pitch + column;
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++) {
                *to = padding ? 0.0f : window[p * W + q];
                to += chunk.pitch; /* the same column, next row */
            }
    }
}

/* The part of the matrices that a block of multiply() has in shared memory at a time. */
struct staged {
    alignas(16) float k[BLK_L][BLK_M]; /* weights, transposed so that a thread's rows are next to
                                          each other */
    alignas(16) float u[BLK_L][BLK_N]; /* elements of the unrolled matrix */
};

/** Copies BLK_L columns of k [rows][length], from column l0 on; zeros past the edges. */
static __device__ void stage_k(struct staged *s, const float *k, size_t rows, size_t length,
                               size_t l0)
{
    for (int i = threadIdx.x; i < BLK_M * BLK_L; i += THREADS) {
        const int m = i / BLK_L, l = i % BLK_L;
        const bool inside = m < rows && l0 + l < length;
        s->k[l][m] = inside ? k[m * length + l0 + l] : 0.0f;
    }
}

/** Copies BLK_L rows of u [length][pitch], from row l0 on, four elements at a time; zeros for rows
 * past the last one. */
static __device__ void stage_u(struct staged *s, const float *u, size_t pitch, size_t length,
                               size_t l0)
{
#pragma unroll
    for (int i = threadIdx.x; i < BLK_L * BLK_N / 4; i += THREADS) {
        const int l = i / (BLK_N / 4), n = i % (BLK_N / 4) * 4;
        const bool inside = l0 + l < length;
        *(float4 *)&s->u[l][n] =
            inside ? *(const float4 *)&u[(l0 + l) * pitch + n] : make_float4(0, 0, 0, 0);
    }
}

/** sum += the staged part of k times the staged part of u. Each element that a thread loads stays
 * in a register while it is used, ROWS or COLUMNS times. */
static __device__ void multiply_staged(const struct staged *s, int row, int column,
                                       float sum[ROWS][COLUMNS])
{
#pragma unroll
    for (int l = 0; l < BLK_L; l++) {
        float r_k[ROWS], r_u[COLUMNS];
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            r_k[i] = s->k[l][row + i];
#pragma unroll
        for (int j = 0; j < COLUMNS; j++)
            r_u[j] = s->u[l][column + j * THREADS_N];
#pragma unroll
        for (int i = 0; i < ROWS; i++)
#pragma unroll
            for (int j = 0; j < COLUMNS; j++)
                sum[i][j] += r_k[i] * r_u[j];
    }
}

/** y = k [M][C*K*K] times a chunk of u [C*K*K][pitch]; element (m, n) of the product is an output
 * of map m, at pixel n of the batch.
 * @pre blockDim = THREADS, gridDim = (M / BLK_M rounded up, pitch / BLK_N) */
__global__ void __launch_bounds__(THREADS)
    multiply(struct conv_shape shape, struct chunk chunk, const float *k, const float *u, float *y)
{
    __shared__ struct staged s;
    const size_t M = shape.M, length = (size_t)shape.C * shape.K * shape.K;
    const size_t map_elems = (size_t)(shape.H - shape.K + 1) * (shape.W - shape.K + 1);
    const size_t m0 = (size_t)blockIdx.x * BLK_M;
    const unsigned n0 = blockIdx.y * BLK_N;
    const int row = threadIdx.x / THREADS_N * ROWS, column = threadIdx.x % THREADS_N;

    float sum[ROWS][COLUMNS] = {};
    for (size_t l0 = 0; l0 < length; l0 += BLK_L) {
        __syncthreads(); /* no thread reads the previous tiles any longer */
        stage_k(&s, k + m0 * length, M - m0, length, l0);
        stage_u(&s, u + n0, chunk.pitch, length, l0);
        __syncthreads(); /* the tiles are complete */
        multiply_staged(&s, row, column, sum);
    }

#pragma unroll
    for (int j = 0; j < COLUMNS; j++) {
        const unsigned n_in_chunk = n0 + column + j * THREADS_N;
        if (n_in_chunk >= chunk.count)
            continue;
        const size_t n = chunk.first + n_in_chunk, b = n / map_elems, pixel = n % map_elems;
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            if (m0 + row + i < M)
                y[(b * M + m0 + row + i) * map_elems + pixel] = sum[i][j];
    }
}
/* END SOLUTION */

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    /* BEGIN SOLUTION */
    //~ /* Returning 1 means that this is not implemented yet. Get scratch memory from
    //~  * conv_workspace() (NULL: there is not enough), launch your two kernels for one chunk
    //~  * after another, check with cudaGetLastError() that the launches were accepted, and
    //~  * return 0 if so. Delete the next line when you use its parameters. */
    //~ (void)shape, (void)x, (void)k, (void)y;
    //~ return 1;
    const size_t length = (size_t)shape->C * shape->K * shape->K;
    const size_t columns = (size_t)shape->B * (shape->H - shape->K + 1) * (shape->W - shape->K + 1);

    /* The number of columns at a time, in tiles of BLK_N: at least one tile, at most all
     * columns. */
    const size_t tile_bytes = BLK_N * length * sizeof(float);
    size_t tiles = min(CHUNK_BYTES / tile_bytes, (columns - 1) / BLK_N + 1);
    tiles = max((size_t)1, min(tiles, (size_t)GRID_DIM_Y_Z));
    float *u;
    while (!(u = (float *)conv_workspace(tiles * tile_bytes)) && tiles > 1)
        tiles /= 2;
    if (!u) {
        fprintf(stderr, "m5: no memory for %d columns of the unrolled matrix, %zu bytes\n", BLK_N,
                tile_bytes);
        return 1;
    }

    for (size_t first = 0; first < columns; first += tiles * BLK_N) {
        const size_t count = min(columns - first, tiles * BLK_N);
        const unsigned blocks_n = (count - 1) / BLK_N + 1;
        const struct chunk chunk = {first, (unsigned)count, blocks_n * BLK_N};
        const dim3 unroll_grid((chunk.pitch - 1) / THREADS_TO_UNROLL + 1,
                               min(shape->C, GRID_DIM_Y_Z));
        unroll<<<unroll_grid, THREADS_TO_UNROLL>>>(*shape, chunk, x, u);
        multiply<<<dim3((shape->M - 1) / BLK_M + 1, blocks_n), THREADS>>>(*shape, chunk, k, u, y);
    }

    const cudaError_t launched = cudaGetLastError();
    if (launched != cudaSuccess) {
        fprintf(stderr, "m5: launch: %s\n", cudaGetErrorString(launched));
        return 1;
    }
    return 0;
    /* END SOLUTION */
}
