/** @file
 * Milestone m10: the forward pass of a convolution layer on a GPU, with tiles in shared memory and
 * tiles in registers together.
 *
 * common/conv.h is the contract: the arguments of conv_forward() and the required y. x, k and y
 * are device pointers: kernels may read and write through them, conv_forward() itself may only pass
 * them on.
 */
/* BEGIN SOLUTION */
//~ /* You write one kernel whose threads compute several outputs each, of several maps and at several
//~  * positions, and conv_forward(), which launches it. A block stages its part of x and k in shared
//~  * memory; for each tap of the filter, a thread loads what it needs into registers once and uses it
//~  * for all its outputs. The assignment page (README.md in this folder) says how to choose both
//~  * tiles. Add functions, constants and #include lines as you need them; everything stays in this
//~  * one file. Say here, in a few lines, which tiles you chose and why, what gain you expected and
//~  * what you measured. */
//~
/*
 * The idea. A thread that computes one output loads an element of x and a weight for each
 * multiply-add. Shared memory can serve 32 lanes per clock, a multiprocessor can multiply for 128:
 * with two such loads for each multiply-add, a kernel cannot exceed an eighth of the peak.
 * A thread that computes THR_M x THR_N outputs loads THR_M weights and THR_N elements, and uses
 * them for THR_M * THR_N multiply-adds:
 *
 *                      element[0..3], for tap (p, q) of input map c
 *                        +-----+-----+-----+-----+
 *                        |  .  |  .  |  .  |  .  |        4 loads of a float
 *                        +-----+-----+-----+-----+
 *     weight[0..11]  +-+ +-----+-----+-----+-----+
 *       3 loads of   | | |                       |        48 multiply-adds, whose sums stay in
 *       4 floats     | | |   sum[0..11][0..3]    |        registers until all c, p and q are done
 *                    +-+ +-----+-----+-----+-----+
 *
 * The two tiles, and what each is for:
 *
 *     in shared memory   what the threads of a block have in common, for one input map at a time: the
 *                        rows of x that the block's positions need, and 12 maps' weights
 *     in registers       what the outputs of a thread have in common, for one tap at a time
 *
 * Positions of an image have the numbers h * W_out + w; a block takes 4 * blockDim.x consecutive
 * positions of one image, and 12 maps. These positions need one contiguous part of an input map,
 * which consists of whole rows, so staging needs no index computations:
 *
 *          x, one input map                    n0 = first position of the block
 *        +------------------------+
 *        |                        |
 *     h0 |......n0================|  -+        the outputs of the block begin in these rows
 *        |========================|   |
 *        |=========n1.............|   |  one run, copied unchanged
 *        |                        |   |  K - 1 rows more
 *        |                        |  -+
 *        +------------------------+
 *
 * For each input map: stage, barrier, K * K times 7 loads and 48 multiply-adds, barrier.
 */
/* END SOLUTION */
#include "conv.h"
/* BEGIN SOLUTION */

#include <stdio.h>

/* Parameters: `grader sweep` compiles with other values, as -DTHR_N=2. */
#ifndef THR_M
#define THR_M 12 /* a thread computes THR_M maps, a multiple of 4 */
#endif
#ifndef THR_N
#define THR_N 4 /* at THR_N positions */
#endif
#ifndef BLK_MOST
#define BLK_MOST 256 /* maximum number of threads of a block */
#endif
#define BLK_LEAST   64
#define BLK_ANY     256 /* threads of a block of conv_any */
#define GRID_DIM_X  2147483647
#define SHARED_MOST 49152 /* bytes of shared memory that a block gets without a special request */

static_assert(THR_M % 4 == 0, "weights are loaded four at a time");

/** Stages the weights of input map c for THR_M maps, from m0 on, in reading order: [tap][map]. Maps
 * past the last one get the last map's weights. */
static __device__ void stage_weights(float *weights, const float *k, const struct conv_shape *shape,
                                     int c, int m0)
{
    const int taps = shape->K * shape->K;
    for (int i = threadIdx.x; i < taps * THR_M; i += blockDim.x) {
        const size_t m = min(m0 + i / taps, shape->M - 1);
        weights[i % taps * THR_M + i / taps] = k[(m * shape->C + c) * taps + i % taps];
    }
}

/** sum += weights of my maps times elements at my positions, for all taps of one input map.
 * @param in  where the windows of my positions begin in the staged rows */
template <int K_>
static __device__ void multiply_taps(float sum[THR_M][THR_N], const float *weights,
                                     const float *const in[THR_N], int W, int taps_in_row)
{
    const int K = K_ ? K_ : taps_in_row;
    const float4 *four = (const float4 *)weights;
    for (int p = 0; p < K; p++)
#pragma unroll
        for (int q = 0; q < K; q++, four += THR_M / 4) {
            float weight[THR_M], element[THR_N];
#pragma unroll
            for (int i = 0; i < THR_M / 4; i++)
                *(float4 *)&weight[4 * i] = four[i]; /* the same for all lanes: a broadcast */
#pragma unroll
            for (int j = 0; j < THR_N; j++)
                element[j] = in[j][p * W + q]; /* neighbouring lanes load neighbours */
#pragma unroll
            for (int i = 0; i < THR_M; i++)
#pragma unroll
                for (int j = 0; j < THR_N; j++)
                    sum[i][j] += weight[i] * element[j];
        }
}

/** y at THR_N * blockDim.x positions of an image, in THR_M maps. K_ = 0 stands for any filter.
 * @param chunks  blocks that share the positions of an image
 * @pre gridDim.x = B * chunks * (groups of THR_M maps); shared_bytes() of dynamic shared
 * memory */
template <int K_>
__global__ void __launch_bounds__(BLK_MOST)
    conv_register_tile(struct conv_shape shape, int chunks, const float *x, const float *k,
                       float *y)
{
    extern __shared__ float4 shared[];
    const int M = shape.M, C = shape.C, H = shape.H, W = shape.W, K = K_ ? K_ : shape.K;
    const int H_out = H - K + 1, W_out = W - K + 1, positions = H_out * W_out;
    float *const weights = (float *)shared, *const rows = weights + K * K * THR_M;

    /* My maps, image and positions. Blocks with the same positions are neighbours. */
    const unsigned groups = (M + THR_M - 1) / THR_M;
    const int m0 = blockIdx.x % groups * THR_M;
    const int n0 = blockIdx.x / groups % chunks * (THR_N * blockDim.x);
    const size_t b = blockIdx.x / groups / chunks;
    const int h0 = n0 / W_out, last = min(n0 + THR_N * (int)blockDim.x, positions) - 1;
    const int staged = (last / W_out + K - h0) * W;

    /* Where my windows begin in the staged rows. Past the last position, its window is used
     * again. */
    const float *in[THR_N];
#pragma unroll
    for (int j = 0; j < THR_N; j++) {
        const int n = min(n0 + (int)threadIdx.x + j * (int)blockDim.x, last);
        in[j] = rows + (n / W_out - h0) * W + n % W_out;
    }

    float sum[THR_M][THR_N] = {};
    for (int c = 0; c < C; c++) {
        const float *from = x + ((b * C + c) * H + h0) * W;
        for (int i = threadIdx.x; i < staged; i += blockDim.x)
            rows[i] = from[i];
        stage_weights(weights, k, &shape, c, m0);
        __syncthreads(); /* the tiles are complete */
        multiply_taps<K_>(sum, weights, in, W, K);
        __syncthreads(); /* no thread reads the tiles any longer */
    }

    float *const out = y + (b * M + m0) * positions;
#pragma unroll
    for (int j = 0; j < THR_N; j++) {
        const int n = n0 + threadIdx.x + j * blockDim.x;
#pragma unroll
        for (int i = 0; i < THR_M; i++)
            if (n < positions && m0 + i < M)
                out[(size_t)i * positions + n] = sum[i][j];
    }
}

/** For layers whose tiles do not fit into shared memory: one thread per output, as in m2. */
__global__ void __launch_bounds__(BLK_ANY)
    conv_any(struct conv_shape shape, const float *x, const float *k, float *y)
{
    const int C = shape.C, K = shape.K;
    const size_t M = shape.M, H = shape.H, W = shape.W, H_out = H - K + 1, W_out = W - K + 1;
    const size_t outputs = shape.B * M * H_out * W_out;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < outputs;
         i += (size_t)gridDim.x * blockDim.x) {
        const size_t w = i % W_out, h = i / W_out % H_out, m = i / (W_out * H_out) % M;
        const size_t b = i / (W_out * H_out * M);
        const float *weight = k + m * C * K * K;
        float sum = 0.0f;
        for (int c = 0; c < C; c++)
            for (int p = 0; p < K; p++)
                for (int q = 0; q < K; q++)
                    sum += x[((b * C + c) * H + h + p) * W + w + q] * *weight++;
        y[i] = sum;
    }
}

/** @return the number of blocks of @p threads that the positions of an image take */
static size_t chunks_of(size_t positions, int threads)
{
    return (positions + THR_N * threads - 1) / (THR_N * threads);
}

/** @return the number of threads per block that leaves the fewest lanes without a position */
static int threads_for(size_t positions)
{
    int best = BLK_LEAST;
    for (int threads = BLK_LEAST; threads <= BLK_MOST; threads += 32)
        if (chunks_of(positions, threads) * threads <= chunks_of(positions, best) * best)
            best = threads;
    return best;
}

/** @return the size in bytes of a block's tiles: the weights, and the rows that its positions can
 * reach */
static size_t shared_bytes(const struct conv_shape *shape, int threads)
{
    const size_t K = shape->K, W_out = shape->W - K + 1;
    size_t rows = (THR_N * threads + W_out - 2) / W_out + K;
    rows = rows < (size_t)shape->H ? rows : shape->H;
    return (K * K * THR_M + rows * shape->W) * sizeof(float);
}

/** @return whether the kernel was launched: the tiles may be too large for shared memory */
template <int K_>
static bool launch(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    const size_t positions = (size_t)(shape->H - shape->K + 1) * (shape->W - shape->K + 1);
    const int threads = threads_for(positions);
    const size_t bytes = shared_bytes(shape, threads), chunks = chunks_of(positions, threads);
    const size_t blocks = shape->B * chunks * ((shape->M + THR_M - 1) / THR_M);
    if (bytes > SHARED_MOST || blocks > GRID_DIM_X)
        return false;
    conv_register_tile<K_><<<(unsigned)blocks, threads, bytes>>>(*shape, (int)chunks, x, k, y);
    return true;
}
/* END SOLUTION */

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    /* BEGIN SOLUTION */
    //~ /* Returning 1 means that this is not implemented yet. Launch your kernel here, check with
    //~  * cudaGetLastError() that the launch was accepted, and return 0 if so. x, k and y are
    //~  * device pointers: do not read or write through them in this function. Delete the next line
    //~  * when you use its parameters. */
    //~ (void)shape, (void)x, (void)k, (void)y;
    //~ return 1;
    bool launched;
    switch (shape->K) {
    case 3:
        launched = launch<3>(shape, x, k, y);
        break;
    case 5:
        launched = launch<5>(shape, x, k, y);
        break;
    case 7:
        launched = launch<7>(shape, x, k, y);
        break;
    default:
        launched = launch<0>(shape, x, k, y);
    }
    if (!launched) {
        const size_t outputs =
            (size_t)shape->B * shape->M * (shape->H - shape->K + 1) * (shape->W - shape->K + 1);
        const size_t blocks = (outputs + BLK_ANY - 1) / BLK_ANY;
        conv_any<<<(unsigned)(blocks < GRID_DIM_X ? blocks : GRID_DIM_X), BLK_ANY>>>(*shape, x, k,
                                                                                     y);
    }
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        fprintf(stderr, "m10: launch for %d maps of %d x %d, %d input maps, filter %d x %d: %s\n",
                shape->M, shape->H, shape->W, shape->C, shape->K, shape->K,
                cudaGetErrorString(error));
        return 1;
    }
    return 0;
    /* END SOLUTION */
}
