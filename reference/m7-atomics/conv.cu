/** @file
 * Milestone m7: the forward pass of a convolution layer on a GPU, with the sum over the input maps
 * split over blocks, which add their parts to y with atomicAdd.
 *
 * common/conv.h is the contract: the arguments of conv_forward() and the required y. x, k and y
 * are device pointers: kernels may read and write through them, conv_forward() itself may only pass
 * them on.
 */
/* BEGIN SOLUTION */
//~ /* You write a kernel, and conv_forward(), which clears y and launches the kernel. Begin with
//~  * your m6. Decide which block sums over which input maps, and how many blocks share an output;
//~  * make that number a constant, for you are going to measure with several. The assignment page
//~  * (README.md in this folder) has a drawing to begin with. Add functions, constants and #include
//~  * lines as you need them; everything stays in this one file. Say here, in a few lines, when you
//~  * expected this to be faster than m6 and when slower, and what you measured. */
//~
/*
 * The idea. An output is the sum of C * K * K products, and a sum may be split into parts:
 *
 *              input maps:   0   1   2   3   4   5   6   7   8   9  10  11
 *                          +-----------+-----------+-----------+-----------+
 *         depth of m6:     |  slice 0  |  slice 1  |  slice 2  |  slice 3  |   C * K * K rows
 *                          +-----------+-----------+-----------+-----------+
 *                                |           |           |           |
 *                            block 4n    block 4n+1  block 4n+2  block 4n+3    all for tile n of y
 *                                |           |           |           |
 *                                +-----------+-----+-----+-----------+
 *                                                  v
 *                                     atomicAdd() to each element
 *
 * Each slice of the input maps gets a separate block, which does what a block of m6 does, over
 * these maps only, and then adds its sums to y. Several blocks may add to the same element at the
 * same time: "load, add, store" would lose additions. atomicAdd() makes these three one operation,
 * in the L2 cache, which all multiprocessors share. Its result is not used here, so the compiler
 * emits an instruction (RED) that does not wait for it.
 *
 * See README.md in this folder for the reasons, expected and measured results, and failed attempts.
 */
/* END SOLUTION */
#include "conv.h"
/* BEGIN SOLUTION */

#include <stdio.h>

/* Parameters: `grader sweep` compiles with other values, as -DSLICES=3. */
#ifndef SLICES
#define SLICES 4 /* parts of the sum over the input maps */
#endif
#ifndef BLK_M
#define BLK_M 24 /* a block computes BLK_M output maps */
#endif
#ifndef BLK_N
#define BLK_N 256 /* at BLK_N positions, */
#endif
#ifndef BLK_K
#define BLK_K 16 /* from BLK_K rows of the unrolled matrix at a time */
#endif
#ifndef THR_M
#define THR_M 12 /* a thread computes THR_M maps */
#endif
#ifndef THR_N
#define THR_N 4 /* at THR_N positions */
#endif
#define ACROSS  (BLK_N / THR_N)           /* threads next to each other: whole warps */
#define THREADS (BLK_M / THR_M * ACROSS)  /* threads of a block */
#define COLUMNS (BLK_N / THREADS)         /* columns of a tile that a thread unrolls */
#define WEIGHTS (BLK_M * BLK_K / THREADS) /* weights of a tile that a thread fetches */
#ifndef PAD
#define PAD 4 /* spreads a column of weights over more banks */
#endif

static_assert(BLK_M % THR_M == 0 && BLK_N % THR_N == 0, "a block is made of threads' parts");
static_assert(BLK_N % THREADS == 0, "all threads unroll as many columns");
static_assert(BLK_M * BLK_K % THREADS == 0 && THREADS % BLK_K == 0,
              "all threads fetch as many weights");

/** The tiles that a block multiplies in one step. Row r of a tile is a row (c, p, q) of the
 * unrolled matrix: it contains weight (c, p, q) of BLK_M maps, and element (c, p, q) of BLK_N
 * windows. */
struct tile {
    float weights[BLK_K][BLK_M + PAD]; /* a part of k, transposed */
    float unrolled[BLK_K][BLK_N];
    size_t offset[BLK_K]; /* offsets of the next tile's elements from the beginning of a window */
};

/** The elements of each tile that a thread fetches, and their addresses. */
struct fetch {
    const float *window[COLUMNS]; /* where the windows of my columns begin in x */
    const float *weight[WEIGHTS]; /* where the weights of my maps begin in k */
    float unrolled[BLK_K][COLUMNS], weights[WEIGHTS]; /* on their way to the tile */
};

/** Writes the offsets of the elements of the tile that begins with row @p first: row r is (c, p,
 * q), like weight r of a map. Rows past the last one repeat it, so that nothing outside of x is
 * read and a tile is always full. */
static __device__ void write_offsets(struct tile *tile, size_t first, size_t depth,
                                     const struct conv_shape *shape)
{
    if (threadIdx.x < BLK_K) {
        const size_t H = shape->H, W = shape->W, K = shape->K;
        const size_t r = min(first + threadIdx.x, depth - 1);
        const size_t c = r / K / K, p = r / K % K, q = r % K;
        tile->offset[threadIdx.x] = (c * H + p) * W + q;
    }
}

/** Begins to load the tile that begins with row @p first. Nothing in this function waits for the
 * loads. */
static __device__ void fetch_tile(struct fetch *my, const size_t offset[BLK_K], size_t first,
                                  size_t depth)
{
#pragma unroll
    for (int r = 0; r < BLK_K; r++)
#pragma unroll
        for (int i = 0; i < COLUMNS; i++)
            my->unrolled[r][i] = my->window[i][offset[r]];
    const size_t r = min(first + threadIdx.x % BLK_K, depth - 1);
#pragma unroll
    for (int i = 0; i < WEIGHTS; i++)
        my->weights[i] = my->weight[i][r];
}

/** Stores the fetched elements in the tile. Only here does the unrolled matrix exist. */
static __device__ void put_tile(struct tile *tile, const struct fetch *my)
{
    const unsigned t = threadIdx.x;
#pragma unroll
    for (int r = 0; r < BLK_K; r++)
#pragma unroll
        for (int i = 0; i < COLUMNS; i++)
            tile->unrolled[r][t + i * THREADS] = my->unrolled[r][i];
#pragma unroll
    for (int i = 0; i < WEIGHTS; i++)
        tile->weights[t % BLK_K][t / BLK_K + i * (THREADS / BLK_K)] = my->weights[i];
}

/** sum += weights of maps m... times columns n, n + ACROSS, ...: THR_M + THR_N loads from shared
 * memory for THR_M * THR_N multiply-adds. */
static __device__ void multiply_tile(float sum[THR_M][THR_N], const struct tile *tile, size_t rows,
                                     unsigned m, unsigned n)
{
#pragma unroll
    for (int r = 0; r < BLK_K; r++) {
        if (r >= rows)
            break; /* the last tile may have fewer rows */
        float weight[THR_M], element[THR_N];
#pragma unroll
        for (int i = 0; i < THR_M; i++)
            weight[i] = tile->weights[r][m + i]; /* the same for all lanes of a warp: a broadcast */
#pragma unroll
        for (int j = 0; j < THR_N; j++)
            element[j] = tile->unrolled[r][n + j * ACROSS]; /* neighbouring lanes load neighbours */
#pragma unroll
        for (int i = 0; i < THR_M; i++)
#pragma unroll
            for (int j = 0; j < THR_N; j++)
                sum[i][j] += weight[i] * element[j];
    }
}

/** y += k * unrolled x, over one slice of the input maps, for one tile of BLK_M x BLK_N outputs per
 * block. x [B][C][H][W], k [M][C][K][K] and y [B][M][H_out][W_out] are device pointers.
 * @pre blockDim = THREADS, gridDim = slices * (tiles along M) * (tiles along N), 1 <= slices <= C,
 * and y is 0 everywhere; if there is only one slice, y is assigned and need not be 0. */
__global__ void __launch_bounds__(THREADS, 4)
    conv_split_channels(struct conv_shape shape, unsigned slices, const float *x, const float *k,
                        float *y)
{
    __shared__ __align__(16) struct tile tile[2];
    __shared__ size_t to[BLK_N]; /* index in y of each column, in map 0 */

    const size_t B = shape.B, M = shape.M, C = shape.C, H = shape.H, W = shape.W;
    const size_t H_out = H - shape.K + 1, W_out = W - shape.K + 1;
    const size_t columns = B * H_out * W_out;
    const unsigned t = threadIdx.x;

    /* My slice: input maps c_begin to c_end - 1, at least one map, as slices <= C. */
    const unsigned slice = blockIdx.x % slices;
    const size_t c_begin = C * slice / slices, c_end = C * (slice + 1) / slices;

    /* My tile. Blocks of its slices follow each other, so that y is in the L2 cache when they add
     * to it. */
    const unsigned number = blockIdx.x / slices, tiles_m = (M + BLK_M - 1) / BLK_M;
    const size_t m0 = (size_t)(number % tiles_m) * BLK_M;
    const size_t n0 = (size_t)(number / tiles_m) * BLK_N;

    /* Addresses of my columns in x and y, and of my weights. Past the edge of the matrix,
     * the last column or map is computed again, but not stored. */
    struct fetch my = {};
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        const size_t n = min(n0 + t + i * THREADS, columns - 1);
        const size_t w = n % W_out, h = n / W_out % H_out, b = n / W_out / H_out;
        my.window[i] = x + ((b * C + c_begin) * H + h) * W + w;
        to[t + i * THREADS] = (b * M * H_out + h) * W_out + w;
    }
#pragma unroll
    for (int i = 0; i < WEIGHTS; i++) {
        const size_t m = min(m0 + t / BLK_K + i * (THREADS / BLK_K), M - 1);
        my.weight[i] = k + (m * C + c_begin) * shape.K * shape.K;
    }

    /* Two tiles are used in turn, so one barrier per step is enough: a thread that writes tile 0
     * again has passed the barrier of tile 1, which no thread passes before it has finished with
     * tile 0. */
    const unsigned m = t / ACROSS * THR_M, n = t % ACROSS;
    const size_t depth = (c_end - c_begin) * shape.K * shape.K; /* of my slice */
    float sum[THR_M][THR_N] = {};
    write_offsets(&tile[1], 0, depth, &shape);
    __syncthreads();
    fetch_tile(&my, tile[1].offset, 0, depth);
    int now = 0;
    for (size_t first = 0; first < depth; first += BLK_K, now ^= 1) {
        put_tile(&tile[now], &my); /* 1 */
        write_offsets(&tile[now], first + BLK_K, depth, &shape);
        __syncthreads();           /* 2 */
        if (first + BLK_K < depth) /* 3 */
            fetch_tile(&my, tile[now].offset, first + BLK_K, depth);
        if (m0 + m < M) /* all lanes of a warp have the same m */
            multiply_tile(sum, &tile[now], depth - first, m, n); /* 4 */
    }

    const size_t maps = M > m0 + m ? M - m0 - m : 0; /* my maps that exist */
#pragma unroll
    for (int j = 0; j < THR_N; j++)
        if (n0 + n + j * ACROSS < columns) {
            float *out = y + to[n + j * ACROSS] + (m0 + m) * H_out * W_out;
#pragma unroll
            for (int i = 0; i < THR_M; i++, out += H_out * W_out)
                if (i < maps) {
                    if (slices > 1)
                        atomicAdd(out, sum[i][j]); /* the other slices add their sums */
                    else
                        *out = sum[i][j];
                }
        }
}
/* END SOLUTION */

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    /* BEGIN SOLUTION */
    //~ /* Returning 1 means that this is not implemented yet. Clear y here, launch your
    //~  * kernel, check with cudaGetLastError() that the launch was accepted, and return 0 if so.
    //~  * x, k and y are device pointers, shape is a host pointer.
    //~  * Delete the next line when you use its parameters. */
    //~ (void)shape, (void)x, (void)k, (void)y;
    //~ return 1;
    const size_t columns = (size_t)shape->B * (shape->H - shape->K + 1) * (shape->W - shape->K + 1);
    const unsigned slices = shape->C < SLICES ? shape->C : SLICES;
    if (slices > 1) {
        const cudaError_t cleared = cudaMemsetAsync(y, 0, columns * shape->M * sizeof *y);
        if (cleared != cudaSuccess) {
            fprintf(stderr, "m7: clearing y: %s\n", cudaGetErrorString(cleared));
            return 1;
        }
    }

    const size_t tiles = ((size_t)shape->M + BLK_M - 1) / BLK_M * ((columns + BLK_N - 1) / BLK_N);
    const size_t blocks = slices * tiles; /* gridDim.x may be up to 2^31 - 1: enough for any y */
    conv_split_channels<<<(unsigned)blocks, THREADS>>>(*shape, slices, x, k, y);
    const cudaError_t launched = cudaGetLastError();
    if (launched != cudaSuccess) {
        fprintf(stderr, "m7: launch of %zu blocks of %d threads: %s\n", blocks, THREADS,
                cudaGetErrorString(launched));
        return 1;
    }
    return 0;
    /* END SOLUTION */
}
