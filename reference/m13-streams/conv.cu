/** @file
 * Milestone m13: the forward pass of a convolution layer from host memory to host memory, with copies
 * that overlap kernels and each other.
 *
 * common/conv.h is the contract: the arguments of conv_forward_host(), the required y, and where
 * device memory comes from. x, k and y are page-locked host memory, not device pointers.
 */
/* BEGIN SOLUTION */
//~ /* You write conv_forward_host(), which copies x and k to the device, computes y there with a kernel
//~  * of yours, and copies y back, and does these three things at the same time. Draw first which
//~  * copy and which kernel runs when; the assignment page (README.md in this folder) has a drawing to
//~  * begin with. Say here, in a few lines, into how many parts and streams you split the batch and
//~  * why, what gain you expected and what you measured. */
//~
/*
 * The idea. The batch is split into parts of whole images. A part is copied in, computed and copied
 * out in one stream, in this order; parts in other streams do not wait for it. The GPU has one
 * engine for copies to it, one for copies from it, and its multiprocessors, and all three work at
 * the same time:
 *
 *     copies in    |k|part 0|part 1|part 2|part 3|
 *     kernels              |0|    |1|    |2|    |3|
 *     copies out             |  part 0  |  part 1  |  part 2  |  part 3  |
 *
 *     one after another:    in + kernels + out
 *     overlapped:           the longest of the three, plus the time until the first part reaches it
 *
 * All parts need the weights: these are copied first, and the other streams wait for the event
 * after this copy. Each part has its own buffers in device memory, so no stream waits for a buffer
 * of another.
 *
 * With PARTS = 1 and SHARED_MOST = 0, this is the plain version to compare with: a single part, so
 * that nothing overlaps, and the kernel of m2.
 */
/* END SOLUTION */
#include "conv.h"
/* BEGIN SOLUTION */

#include <stdio.h>

/* Parameters: `grader sweep` compiles with other values, as -DPARTS=4. */
#ifndef PARTS
#define PARTS 10 /* maximum number of parts of the batch */
#endif
#ifndef STREAMS
#define STREAMS 4 /* streams that take the parts in turn */
#endif
#ifndef SHARED_MOST
#define SHARED_MOST 49152 /* bytes of shared memory that a block gets without a special request */
#endif
#define MAPS      12 /* a thread computes one output in each of MAPS maps, */
#define BLK       16 /* a block BLK x BLK outputs in each of these maps */
#define GRID_MOST 65535

/* ---- kernels, which do not depend on parts ------------------------------------------ */

/** A block computes a tile of BLK x BLK outputs in MAPS maps of an image, from a tile of x and the weights
 * of one input map at a time in shared memory.
 * @pre blockDim = (BLK, BLK), gridDim = (tiles of a map, groups of maps, images), shared_bytes() of
 * dynamic shared memory */
__global__ void conv_tile(struct conv_shape shape, const float *x, const float *k, float *y)
{
    extern __shared__ float shared[];
    const int M = shape.M, C = shape.C, H = shape.H, W = shape.W, K = shape.K;
    const int H_out = H - K + 1, W_out = W - K + 1, side = BLK + K - 1;
    const int across = (W_out + BLK - 1) / BLK, thread = threadIdx.y * BLK + threadIdx.x;
    const int h0 = blockIdx.x / across * BLK, w0 = blockIdx.x % across * BLK;
    const int m0 = blockIdx.y * MAPS;
    const size_t b = blockIdx.z;
    float *const weights = shared, *const tile = shared + K * K * MAPS;

    float sum[MAPS] = {};
    for (int c = 0; c < C; c++) {
        const float *map = x + (b * C + c) * H * W;
        __syncthreads(); /* no thread reads the previous tiles any longer */
        for (int i = thread; i < side * side; i += BLK * BLK)
            tile[i] = map[(size_t)min(h0 + i / side, H - 1) * W + min(w0 + i % side, W - 1)];
        for (int i = thread; i < K * K * MAPS; i += BLK * BLK)
            weights[i] = k[((size_t)min(m0 + i % MAPS, M - 1) * C + c) * K * K + i / MAPS];
        __syncthreads(); /* the tiles are complete */
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++) {
                const float value = tile[(threadIdx.y + p) * side + threadIdx.x + q];
#pragma unroll
                for (int m = 0; m < MAPS; m++)
                    sum[m] += value * weights[(p * K + q) * MAPS + m];
            }
    }

    const int h = h0 + threadIdx.y, w = w0 + threadIdx.x;
    if (h < H_out && w < W_out)
#pragma unroll
        for (int m = 0; m < MAPS; m++)
            if (m0 + m < M)
                y[((b * M + m0 + m) * H_out + h) * W_out + w] = sum[m];
}

/** For layers whose tiles do not fit into shared memory, and for the plain version: one thread per
 * output, as in m2.
 * @pre blockDim = (BLK, BLK), gridDim = (tiles of a map, at most M, at most B) */
__global__ void conv_any(struct conv_shape shape, const float *x, const float *k, float *y)
{
    const int M = shape.M, C = shape.C, H = shape.H, W = shape.W, K = shape.K;
    const int H_out = H - K + 1, W_out = W - K + 1, across = (W_out + BLK - 1) / BLK;
    const int h = blockIdx.x / across * BLK + threadIdx.y;
    const int w = blockIdx.x % across * BLK + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    for (size_t b = blockIdx.z; b < shape.B; b += gridDim.z)
        for (size_t m = blockIdx.y; m < M; m += gridDim.y) {
            float sum = 0.0f;
            for (int c = 0; c < C; c++)
                for (int p = 0; p < K; p++)
                    for (int q = 0; q < K; q++)
                        sum += x[((b * C + c) * H + h + p) * W + w + q] *
                               k[((m * C + c) * K + p) * K + q];
            y[((b * M + m) * H_out + h) * W_out + w] = sum;
        }
}

static size_t shared_bytes(const struct conv_shape *shape)
{
    const size_t side = BLK + shape->K - 1, taps = (size_t)shape->K * shape->K;
    return (taps * MAPS + side * side) * sizeof(float);
}

/** Launches the kernel for some images in a stream. x, k and y are device pointers. */
static void convolve(const struct conv_shape *shape, const float *x, const float *k, float *y,
                     cudaStream_t stream)
{
    const size_t H_out = shape->H - shape->K + 1, W_out = shape->W - shape->K + 1;
    const size_t tiles = (H_out + BLK - 1) / BLK * ((W_out + BLK - 1) / BLK);
    const int groups = (shape->M + MAPS - 1) / MAPS;
    const dim3 block(BLK, BLK);
    if (shared_bytes(shape) <= SHARED_MOST && groups <= GRID_MOST && shape->B <= GRID_MOST) {
        const dim3 grid((unsigned)tiles, groups, shape->B);
        conv_tile<<<grid, block, shared_bytes(shape), stream>>>(*shape, x, k, y);
    } else {
        const dim3 grid((unsigned)tiles, shape->M < GRID_MOST ? shape->M : GRID_MOST,
                        shape->B < GRID_MOST ? shape->B : GRID_MOST);
        conv_any<<<grid, block, 0, stream>>>(*shape, x, k, y);
    }
}

/* ---- parts and streams ------------------------------------------------------------------------- */

/* The first call creates the streams and keeps them: creating them takes as long as a small
 * layer. */
static cudaStream_t streams[STREAMS];
static cudaEvent_t weights_are_there;

static cudaError_t make_streams(void)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < STREAMS && !error; i++)
        if (!streams[i])
            error = cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
    if (!error && !weights_are_there)
        error = cudaEventCreateWithFlags(&weights_are_there, cudaEventDisableTiming);
    return error;
}

/** Images b0 to b1 - 1: copied in, computed, copied out. d_x, d_k and d_y are the whole x, k and y
 * on the device. */
static void part(const struct conv_shape *shape, const float *x, float *y, float *d_x,
                 const float *d_k, float *d_y, int b0, int b1, cudaStream_t stream)
{
    const size_t x_image = (size_t)shape->C * shape->H * shape->W;
    const size_t y_image = (size_t)shape->M * (shape->H - shape->K + 1) * (shape->W - shape->K + 1);
    const size_t x0 = b0 * x_image, y0 = b0 * y_image, images = b1 - b0;
    struct conv_shape some = *shape;
    some.B = (int)images;
    cudaMemcpyAsync(d_x + x0, x + x0, images * x_image * sizeof(float), cudaMemcpyHostToDevice,
                    stream);
    convolve(&some, d_x + x0, d_k, d_y + y0, stream);
    cudaMemcpyAsync(y + y0, d_y + y0, images * y_image * sizeof(float), cudaMemcpyDeviceToHost,
                    stream);
}

/** @return n rounded up, so that the next tensor after n elements has the alignment of the first */
static size_t aligned(size_t n)
{
    return (n + 63) / 64 * 64;
}
/* END SOLUTION */

int conv_forward_host(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    /* BEGIN SOLUTION */
    //~ /* Returning 1 means that this is not implemented yet. Take device memory from
    //~  * conv_workspace(), copy with cudaMemcpyAsync() and launch kernels in several streams; check
    //~  * with cudaGetLastError() that the launches were accepted, wait for the streams, and return 0.
    //~  * Delete the next line when you use its parameters. */
    //~ (void)shape, (void)x, (void)k, (void)y;
    //~ return 1;
    const size_t B = shape->B, M = shape->M, C = shape->C, K = shape->K;
    const size_t x_elems = B * C * shape->H * shape->W, k_elems = M * C * K * K;
    const size_t y_elems = B * M * (shape->H - K + 1) * (shape->W - K + 1);
    float *const d_k =
        (float *)conv_workspace((aligned(k_elems) + aligned(x_elems) + y_elems) * sizeof(float));
    float *const d_x = d_k + aligned(k_elems), *const d_y = d_x + aligned(x_elems);
    if (!d_k || make_streams()) {
        fprintf(stderr, "m13: no device memory or streams for %zu images\n", B);
        return 1;
    }

    cudaMemcpyAsync(d_k, k, k_elems * sizeof(float), cudaMemcpyHostToDevice, streams[0]);
    cudaEventRecord(weights_are_there, streams[0]);
    const int parts = B < PARTS ? (int)B : PARTS;
    for (int i = 0; i < parts; i++) {
        const cudaStream_t stream = streams[i % STREAMS];
        if (i > 0 && i < STREAMS)
            cudaStreamWaitEvent(stream, weights_are_there, 0);
        part(shape, x, y, d_x, d_k, d_y, (int)(B * i / parts), (int)(B * (i + 1) / parts), stream);
    }

    const cudaError_t launched = cudaGetLastError(), error = cudaDeviceSynchronize();
    if (launched != cudaSuccess || error != cudaSuccess) {
        fprintf(stderr, "m13: %d parts of %zu images: %s\n", parts, B,
                cudaGetErrorString(launched ? launched : error));
        return 1;
    }
    return 0;
    /* END SOLUTION */
}
