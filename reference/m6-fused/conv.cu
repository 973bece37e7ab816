/** @file
 * Milestone m6: the forward pass of a convolution layer on a GPU, as one matrix multiplication
 * whose unrolled matrix exists only in tiles, in shared memory.
 *
 * common/conv.h is the contract: what conv_forward() gets, and what it must leave in y. x, k and y
 * are device pointers: kernels may read and write through them, conv_forward() itself may only pass
 * them on.
 */
/* BEGIN SOLUTION */
//~ /* You write one kernel, and conv_forward(), which launches it. The kernel multiplies tiles of k
//~  * and of the unrolled x, like the second kernel of m5; but it finds the elements of the second
//~  * tile in x itself, while it loads them. The assignment page (README.md in this folder) says
//~  * which elements these are, and has a drawing to begin with. Add functions, constants and
//~  * #include lines as you need them; everything stays in this one file. Say here, in a few lines,
//~  * how tiles and threads are laid over the matrices, what gain over m5 you expected and what you
//~  * measured. */
//~
/*
 * The idea. Convolution is a product of matrices: k, of M rows and depth = C * K * K columns, times
 * the unrolled x, of depth rows and a column for every output position of every image. m5 wrote the
 * second one to memory. Here it is made where it is used: a block brings a tile of k and a tile of
 * x unrolled into shared memory, multiplies them, and goes on along the depth.
 *
 *                                                x unrolled: depth x B * H_out * W_out
 *                                                         n0          n0 + 256
 *     k: M x depth                              +---------+-----------+------+
 *              first + 16                       |         |           |      |
 *     +-------+----+-----------+         first  +---------+-----------+------+
 *     |       |    |           |                |         | tile, 16 rows    |
 *     +-------+----+-----------+ m0  first + 16 +---------+-----------+------+
 *     |       |tile|           |                |         |           |      |
 *     +-------+----+-----------+ m0 + 24        +---------+-----------+------+
 *     |       |    |           |
 *     +-------+----+-----------+          m0    +---------+-----------+------+
 *                                               |         |   sums    |      |   in registers,
 *                                       m0 + 24 +---------+-----------+------+   at last to y
 *
 * How the tile of x is made. Row r = (c, p, q) and column n = (b, h, w) of the unrolled matrix hold
 *
 *     x[b, c, h+p, w+q] = x[ (b * C * H + h) * W + w   +   (c * H + p) * W + q ]
 *                            where window n begins         how far from there: the same in a row
 *
 * The first part is found once, by the thread that loads the column all along the depth. The second
 * is found once per row, by one thread, which leaves it in shared memory for the others. So there
 * is no division per element: what remains is an addition and a load.
 *
 * How a block works, for each tile along the depth:
 *   1. What was loaded into registers goes into the tile, and the tile's successor gets its
 * offsets.
 *   2. A barrier: the tile is complete.
 *   3. Loads of the next tile into registers begin. Nobody waits for them.
 *   4. Each thread multiplies 12 weights by 4 elements, 16 times.
 *
 * Why so:
 *   - A thread owns 12 maps at 4 positions: 12 + 4 loads from shared memory serve 48 multiply-adds.
 *     With one output per thread it would be 2 loads for each, and a multiprocessor can load for 32
 *     lanes per clock, but multiply for 128.
 *   - The lanes of a warp have the same 12 maps, and neighbouring positions. What they read of the
 *     weights is a broadcast; what they read of x, and write to y, is one run of 128 bytes.
 *   - Columns of all images are put side by side, and a tile may begin in one image and end in the
 *     next: only the last tile of all is not full.
 *   - Past the edge of a matrix, its last row or column is loaded once more. That is always a valid
 *     address; what is computed from it is not stored.
 *   - 24 maps in a tile: conv2 has as many, so each of its elements of x is unrolled once; and
 *     with 48 sums per thread 4 blocks fit into the registers of a multiprocessor. 32 maps took 1.3
 *     times as long in conv1 and conv2, and 0.9 times in one-layer (50 maps); 16 maps 0.8, 1.5 and
 *     1.1 times.
 *
 * What is wrong with the rung below (m5). Between its two kernels lies a matrix that is up to K * K
 * times as large as x: 4.4 GB in conv1 and 10.1 GB in conv2, for 10000 images. They are written
 * once and read once, which at 4.2 TB/s takes 2.1 and 4.8 of its 3.9 and 10.4 ms.
 *
 * Expected. What is left is the multiplication. For one row of a tile a thread executes 48
 * multiply-adds, 3 loads of 4 weights and 4 loads of elements; and to fill the next tile, 2 loads
 * and 2 stores, 4 instructions for 64-bit addresses, and about 3 for offset, weights and the test
 * for the last row. So 73% of its instructions are multiply-adds. An H200 begins 132 * 128 * 1.98
 * GHz = 33400 * 10^9 of these per second: 24400 GMAC/s remain, 2.5 ms for conv2. Conv1 is charged
 * for 24 maps although it has 12: 1.1 ms, and more for the ends of a block, which has two steps
 * only.
 *
 * Measured on an H200, 10000 images:
 *
 *                  m5         m6       m6, GMAC/s
 *     conv1      3.87 ms    2.44 ms       5350
 *     conv2      10.4 ms    3.97 ms      15270
 *
 * That is 1.6 and 2.6 times as fast as m5, but only 45% and 63% of what was expected. Memory is not
 * what limits it: 0.20 + 2.07 GB go from and to DRAM in conv1 and 0.52 + 0.78 GB in conv2, that is
 * x and y, once each. (Every element of x is loaded 25 times; L1 has 80% and 89% of the sectors, L2
 * most of the others.) The profile says: instructions are issued in 72% and 75% of the slots, with
 * 16 warps per multiprocessor, which wait at the barrier and for shared memory; and of these
 * instructions 44% and 61% are multiply-adds, not 73%. The others begin and end a block: divisions,
 * 64-bit addresses, 48 stores with their tests. 0.72 * 0.44 and 0.75 * 0.61 of the peak are the
 * times measured.
 *
 * Tried: offsets of rows by division for each element, instead of once per row: 5.32 and 8.86 ms.
 * One tile with two barriers instead of two tiles with one: 2.47 and 4.09 ms; other blocks fill the
 * gap almost as well. 5 blocks per multiprocessor, whose sums do not all fit into registers: 2.78
 * and 4.53 ms. Tiles of 128 columns, 2 warps to a block: 2.82 and 4.35 ms.
 *
 * What is wrong with this one, for the next rungs. One image has 841 columns in conv2: 4 blocks,
 * for 132 multiprocessors. All that is left to be divided among more of them is the depth (m7). And
 * one tile serves all layers: conv1 computes 12 maps that do not exist, one-layer 22; and each
 * element of x goes into shared memory 25 times, for 12 or 24 multiply-adds each time (m8).
 */
/* END SOLUTION */
#include "conv.h"
/* BEGIN SOLUTION */

#include <stdio.h>

/* Parameters: `grader sweep` compiles with other values, as -DBLK_N=128. */
#ifndef BLK_M
#define BLK_M 24 /* a block makes BLK_M output maps */
#endif
#ifndef BLK_N
#define BLK_N 256 /* at BLK_N positions, */
#endif
#ifndef BLK_K
#define BLK_K 16 /* from BLK_K rows of the unrolled matrix at a time */
#endif
#ifndef THR_M
#define THR_M 12 /* a thread makes THR_M maps */
#endif
#ifndef THR_N
#define THR_N 4 /* at THR_N positions */
#endif
#define ACROSS  (BLK_N / THR_N)           /* threads beside each other: whole warps */
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

/** What a block multiplies in one step. Row r of a tile is a row (c, p, q) of the unrolled matrix:
 * it has weight (c, p, q) of BLK_M maps, and element (c, p, q) of BLK_N windows. */
struct tile {
    float weights[BLK_K][BLK_M + PAD]; /* a part of k, transposed */
    float unrolled[BLK_K][BLK_N];
    size_t offset[BLK_K]; /* of the elements of the tile after this one, from a window's begin */
};

/** What a thread fetches of each tile, and from where. */
struct fetch {
    const float *window[COLUMNS]; /* where the windows of my columns begin in x */
    const float *weight[WEIGHTS]; /* where the weights of my maps begin in k */
    float unrolled[BLK_K][COLUMNS], weights[WEIGHTS]; /* on their way to the tile */
};

/** Writes where the tile that begins with row @p first will find its elements: row r is (c, p, q)
 * as weight r of a map is. Past the last row, that one again: nothing is read outside of x, and a
 * tile is always full. */
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

/** Begins to load the tile that begins with row @p first. Nothing here waits for the loads. */
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

/** Puts what was fetched into the tile: this is where the unrolled matrix comes to be. */
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
            break; /* the last tile may have fewer */
        float weight[THR_M], element[THR_N];
#pragma unroll
        for (int i = 0; i < THR_M; i++)
            weight[i] = tile->weights[r][m + i]; /* the same for all lanes of a warp: a broadcast */
#pragma unroll
        for (int j = 0; j < THR_N; j++)
            element[j] = tile->unrolled[r][n + j * ACROSS]; /* neighbours for neighbours */
#pragma unroll
        for (int i = 0; i < THR_M; i++)
#pragma unroll
            for (int j = 0; j < THR_N; j++)
                sum[i][j] += weight[i] * element[j];
    }
}

/** y = k * unrolled x, one tile of BLK_M x BLK_N outputs per block. x [B][C][H][W], k [M][C][K][K]
 * and y [B][M][H_out][W_out] are device pointers.
 * @pre blockDim = THREADS, gridDim = (tiles along M) * (tiles along N) */
__global__ void __launch_bounds__(THREADS)
    conv_fused_gemm(struct conv_shape shape, const float *x, const float *k, float *y)
{
    __shared__ __align__(16) struct tile tile[2];
    __shared__ size_t to[BLK_N]; /* where in y the column of map 0 goes */

    const size_t B = shape.B, M = shape.M, C = shape.C, H = shape.H, W = shape.W;
    const size_t H_out = H - shape.K + 1, W_out = W - shape.K + 1;
    const size_t depth = C * shape.K * shape.K, columns = B * H_out * W_out;
    const unsigned t = threadIdx.x;

    /* Which tile is mine? Neighbours have the same columns: what they read of x is in the cache. */
    const unsigned tiles_m = (M + BLK_M - 1) / BLK_M;
    const size_t m0 = (size_t)(blockIdx.x % tiles_m) * BLK_M;
    const size_t n0 = (size_t)(blockIdx.x / tiles_m) * BLK_N;

    /* Where do my columns come from and go to, where are my weights? Past the edge of the matrix,
     * the last column or map once more: it is computed, and not stored. */
    struct fetch my = {};
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        const size_t n = min(n0 + t + i * THREADS, columns - 1);
        const size_t w = n % W_out, h = n / W_out % H_out, b = n / W_out / H_out;
        my.window[i] = x + (b * C * H + h) * W + w;
        to[t + i * THREADS] = (b * M * H_out + h) * W_out + w;
    }
#pragma unroll
    for (int i = 0; i < WEIGHTS; i++) {
        const size_t m = min(m0 + t / BLK_K + i * (THREADS / BLK_K), M - 1);
        my.weight[i] = k + m * depth;
    }

    /* Two tiles in turn, so one barrier per step is enough: who writes tile 0 again has passed the
     * barrier of tile 1, and nobody passed that before having done with tile 0. */
    const unsigned m = t / ACROSS * THR_M, n = t % ACROSS;
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
        multiply_tile(sum, &tile[now], depth - first, m, n); /* 4 */
    }

    const size_t maps = M > m0 + m ? M - m0 - m : 0; /* of mine exist */
#pragma unroll
    for (int j = 0; j < THR_N; j++)
        if (n0 + n + j * ACROSS < columns) {
            float *out = y + to[n + j * ACROSS] + (m0 + m) * H_out * W_out;
#pragma unroll
            for (int i = 0; i < THR_M; i++, out += H_out * W_out)
                if (i < maps)
                    *out = sum[i][j];
        }
}
/* END SOLUTION */

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    /* BEGIN SOLUTION */
    //~ /* Not implemented yet: that is what returning 1 says. Launch your kernel here, one
    //~  * block per tile of y, ask with cudaGetLastError() whether the launch was accepted, and
    //~  * return 0 if so. x, k and y are device pointers, shape is a host pointer.
    //~  * Delete the next line when you use what it names. */
    //~ (void)shape, (void)x, (void)k, (void)y;
    //~ return 1;
    const size_t columns = (size_t)shape->B * (shape->H - shape->K + 1) * (shape->W - shape->K + 1);
    /* gridDim.x may reach 2^31 - 1: more tiles than any y in the memory of a GPU has */
    const size_t blocks = ((size_t)shape->M + BLK_M - 1) / BLK_M * ((columns + BLK_N - 1) / BLK_N);
    conv_fused_gemm<<<(unsigned)blocks, THREADS>>>(*shape, x, k, y);

    const cudaError_t launched = cudaGetLastError();
    if (launched != cudaSuccess) {
        fprintf(stderr, "m6: launch of %zu blocks of %d threads: %s\n", blocks, THREADS,
                cudaGetErrorString(launched));
        return 1;
    }
    return 0;
    /* END SOLUTION */
}
