/** @file
 * Milestone m9: the forward pass of a convolution layer on a GPU, with loops unrolled and read-only
 * loads: the fastest of all.
 *
 * common/conv.h is the contract: the arguments of conv_forward() and the required y. x, k and y
 * are device pointers: kernels may read and write through them, conv_forward() itself may only pass
 * them on.
 */
/* BEGIN SOLUTION */
//~ /* You take your m8 and make it faster without changing what it computes: __restrict__ promises
//~  * the compiler that x and k are not written to, so that it may load them through the read-only
//~  * path and in another order; it can unroll loops whose length it knows. The assignment page
//~  * (README.md in this folder) says how to find out what your kernel spends its instructions
//~  * on. Add functions, constants and #include lines as you need them; everything stays in this
//~  * one file. Say here, in a few lines, what you changed and why, what gain over m8 you expected
//~  * from each change and what you measured. */
//~
/*
 * The idea. Each instruction other than a multiply-add wastes an issue slot: a multiprocessor
 * issues four instructions per clock, and all could be multiply-adds of 32 lanes. So loops are
 * unrolled where this makes indices constant, memory is read only once and with wide loads, and
 * values that do not depend on the thread are computed by the units that work once per warp. The
 * kernels of m8 stay, with these changes:
 *
 *     conv_one_map   (C = 1)  a thread computes 3 rows of 2 outputs instead of 1, and loads and
 *                             stores two floats at a time. The filter is unrolled, and so are 4
 *                             maps, so that loads of the next weights overlap the present ones'
 *                             multiply-adds.
 *     conv_planes    (C = 1)  as conv_one_map, for GPUs with bulk copies and shapes that suit it:
 *                             whole maps go from shared memory to y in one copy, while the next
 *                             maps are computed.
 *     conv_ring      (C > 1)  10 rows in 6 maps per thread. All q and p are unrolled: 300
 *                             multiply-adds per q without a branch. Images come through a ring in
 *                             shared memory, the next image while this one is computed. The lanes
 *                             of a block cover its images without a gap. Weights come from
 *                             constant memory, from addresses that are the same in a whole warp.
 *     conv_any                everything else: one output per thread, filter unrolled for small K
 *
 * The ring. A block computes images blockIdx.x, blockIdx.x + gridDim.x, ... of the batch. Each
 * image has 3 tiles of 10 rows by 29 columns: 87 columns of outputs, for each group of maps. The
 * columns are numbered in one sequence over all images of the block, and processed 128 at a time; a
 * warp computes 32 columns of one group:
 *
 *     column         0         87        174       261       348
 *     image          |    0    |    1    |    2    |    3    |   ...     (of this block)
 *     step           |       0      |       1      |       2      | ...
 *     warps 0 to 15: 4 groups of maps, of each 4 times 32 columns
 *
 *     slot of image i in shared memory: i mod slots.   Before a step, all its images must have
 *     arrived; during the step, images are fetched for which a slot is free.
 *
 * See README.md in this folder for the reasons, expected and measured results, and failed attempts.
 */
/* END SOLUTION */
#include "conv.h"
/* BEGIN SOLUTION */

#include <cuda_pipeline_primitives.h>
#include <stdint.h>
#include <stdio.h>

/* Parameters: `grader sweep` compiles with other values, as -DBLK_MAP=128. */
#ifndef BLK_MAP
#define BLK_MAP 256 /* threads of a block of conv_one_map */
#endif
#ifndef ROWS_MAP
#define ROWS_MAP 3 /* rows of outputs per thread in conv_one_map */
#endif
#define BLK_PLANES  256 /* threads of a block of conv_planes */
#define ROWS_PLANES 3   /* rows and columns of outputs per thread in conv_planes */
#define COLS_PLANES 6
#define MAPS_PLANES 2 /* maps that one copy contains */
#ifndef BLK_RING
#define BLK_RING 512 /* threads of a block of conv_ring */
#endif
#define WARPS_RING (BLK_RING / 32)
#ifndef ROWS_RING
#define ROWS_RING 10 /* rows of outputs per thread in conv_ring */
#endif
#ifndef MAPS_RING
#define MAPS_RING 6 /* output maps per thread in conv_ring */
#endif
#ifndef SLOTS_MOST
#define SLOTS_MOST 32 /* maximum number of images in a ring */
#endif
#define BLK_ANY     256 /* threads of a block of conv_any */
#define GRID_DIM_X  2147483647
#define SHARED_MOST 49152 /* bytes of shared memory that a block gets without a special request */

/** Rounds up to a multiple of unit. */
#define ROUND_UP(n, unit) (((n) + (unit)-1) / (unit) * (unit))

/** The weights of conv_ring: [c][group of MAPS_RING maps][q][p][map of the group]. The weights of one
 * group and q occupy a multiple of 128 bytes. */
#define WEIGHTS_MOST 16384
__constant__ __align__(256) float ring_weights[WEIGHTS_MOST];

/** Floats of the weights of one group and q in ring_weights. */
#define RUN(K) ROUND_UP((K)*MAPS_RING, 32)

/** For layers with one input map: a thread loads the input of ROWS x COLS outputs into registers,
 * and computes these outputs in every output map from it. COLS = 2 loads and stores two floats at a
 * time.
 * @pre shape.C = 1, shape.K = K; COLS divides W and W_out; shared memory for k, each map rounded up
 * to 4 floats; shape.B * positions of an image < 2^31 */
template <int K, int ROWS, int COLS>
__global__ void __launch_bounds__(BLK_MAP, K <= 5 ? 3 : 2)
    conv_one_map(struct conv_shape shape, const float *__restrict__ x, const float *__restrict__ k,
                 float *__restrict__ y)
{
    constexpr int QUADS = ROUND_UP(K * K, 4) / 4; /* float4 of a map's weights */
    extern __shared__ float4 weights[];           /* [M][QUADS] */
    const int M = shape.M, H = shape.H, W = shape.W, H_out = H - K + 1, W_out = W - K + 1;
    /* Lanes past the last position repeat it and do not store: only the branch of the stores
     * diverges. */
    const unsigned across = W_out / COLS, down = ROUND_UP(H_out, ROWS) / ROWS;
    const unsigned places = shape.B * down * across;
    const unsigned mine = blockIdx.x * blockDim.x + threadIdx.x, place = min(mine, places - 1);
    const int h0 = place / across % down * ROWS, w = place % across * COLS;
    const size_t b = place / across / down;

    float window[ROWS + K - 1][K + COLS - 1];
#pragma unroll
    for (int r = 0; r < ROWS + K - 1; r++) { /* past the lower edge, the last row again */
        const float *row = x + (b * H + min(h0 + r, H - 1)) * W + w;
#pragma unroll
        for (int q = 0; q < K + COLS - 1; q += COLS)
            if constexpr (COLS == 2) {
                const float2 two = *(const float2 *)(row + q);
                window[r][q] = two.x;
                window[r][q + 1] = two.y;
            } else {
                window[r][q] = row[q];
            }
    }
    /* The weights are copied after the loads of the window have begun, which proceed meanwhile. */
    for (int i = threadIdx.x; i < M * QUADS * 4; i += blockDim.x) {
        const int m = i / (QUADS * 4), tap = i % (QUADS * 4);
        ((float *)weights)[i] = tap < K * K ? k[m * K * K + tap] : 0.0f;
    }
    __syncthreads();

    float *out = y + (b * M * H_out + h0) * W_out + w;
#pragma unroll 4
    for (int m = 0; m < M; m++, out += (size_t)H_out * W_out) {
        float weight[QUADS * 4], sum[ROWS][COLS] = {};
#pragma unroll
        for (int quad = 0; quad < QUADS; quad++)
            *(float4 *)&weight[quad * 4] = weights[m * QUADS + quad];
#pragma unroll
        for (int p = 0; p < K; p++)
#pragma unroll
            for (int q = 0; q < K; q++)
#pragma unroll
                for (int r = 0; r < ROWS; r++)
#pragma unroll
                    for (int col = 0; col < COLS; col++)
                        sum[r][col] += window[r + p][q + col] * weight[p * K + q];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (mine < places && h0 + r < H_out) {
                if constexpr (COLS == 2)
                    *(float2 *)(out + (size_t)r * W_out) = make_float2(sum[r][0], sum[r][1]);
                else
                    out[(size_t)r * W_out] = sum[r][0];
            }
    }
}

/* Bulk copies between global and shared memory, of multiples of 16 bytes. Threads do not wait for
 * them: a copy to shared memory signals a barrier object when it completes; copies from shared
 * memory are committed in groups. */
__device__ __forceinline__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ __forceinline__ void bulk_load(float *to, const float *from, int elems,
                                          uint64_t *arrived)
{
    const unsigned bytes = elems * sizeof(float), barrier = shared_address(arrived);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

__device__ __forceinline__ void bulk_wait(uint64_t *arrived, unsigned parity)
{
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p;\n"
                     "  mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "  selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(shared_address(arrived)), "r"(parity)
                     : "memory");
}

__device__ __forceinline__ void bulk_store(float *to, const float *from, int elems)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
                 "cp.async.bulk.commit_group;" ::"l"(to),
                 "r"(shared_address(from)), "r"((unsigned)(elems * sizeof(float)))
                 : "memory");
}

/** For layers with one input map, on GPUs with bulk copies. A block computes one image after
 * another. A thread computes ROWS_PLANES x COLS_PLANES outputs of each map from a window in
 * registers, and stores them in shared memory, from which MAPS_PLANES whole maps at a time are
 * copied to y. The next image is fetched meanwhile.
 * @pre the conditions that launch_planes() checks; dynamic shared memory: two images, two times
 * MAPS_PLANES maps of y, k with each map rounded up to 4 floats, two barrier objects */
template <int K>
__global__ void __launch_bounds__(BLK_PLANES, 2)
    conv_planes(struct conv_shape shape, const float *__restrict__ x, const float *__restrict__ k,
                float *__restrict__ y)
{
#if __CUDA_ARCH__ >= 900
    constexpr int QUADS = ROUND_UP(K * K, 4) / 4, ROWS = ROWS_PLANES, COLS = COLS_PLANES;
    extern __shared__ __align__(128) float planes[];
    const int M = shape.M, H = shape.H, W = shape.W, H_out = H - K + 1, W_out = W - K + 1;
    const int image = H * W, plane = H_out * W_out, stage = MAPS_PLANES * plane;
    float *const staged = planes + 2 * image;
    float4 *const weights = (float4 *)(staged + 2 * stage); /* [M][QUADS] */
    uint64_t *const arrived = (uint64_t *)(weights + M * QUADS);

    for (int i = threadIdx.x; i < M * QUADS * 4; i += BLK_PLANES) {
        const int m = i / (QUADS * 4), tap = i % (QUADS * 4);
        ((float *)weights)[i] = tap < K * K ? k[m * K * K + tap] : 0.0f;
    }
    const bool leads = threadIdx.x == 0;
    if (leads) {
        for (int i = 0; i < 2; i++)
            asm volatile(
                "mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&arrived[i])));
        asm volatile("fence.mbarrier_init.release.cluster;");
        bulk_load(planes, x + (size_t)blockIdx.x * image, image, arrived);
    }
    __syncthreads();

    const int across = W_out / COLS, places = across * (H_out / ROWS);
    const int place =
        min((int)threadIdx.x, places - 1); /* threads past the last position do not store */
    const int h0 = place / across * ROWS, w0 = place % across * COLS;
    int half = 0; /* the half of `staged` in use */
    for (int b = blockIdx.x, n = 0; b < shape.B; b += gridDim.x, n++) {
        const int next = b + gridDim.x;
        if (leads && next < shape.B) /* overwrites the previous image, which is no longer read */
            bulk_load(planes + (n + 1) % 2 * image, x + (size_t)next * image, image,
                      &arrived[(n + 1) % 2]);
        bulk_wait(&arrived[n % 2], n / 2 % 2);

        float window[ROWS + K - 1][K + COLS - 1];
        const float *in = planes + n % 2 * image + h0 * W + w0;
#pragma unroll
        for (int r = 0; r < ROWS + K - 1; r++)
#pragma unroll
            for (int q = 0; q < K + COLS - 1; q += 2) {
                const float2 two = *(const float2 *)(in + r * W + q);
                window[r][q] = two.x;
                window[r][q + 1] = two.y;
            }
        float *out = y + (size_t)b * M * plane;
#pragma unroll 1
        for (int m = 0; m < M; m += MAPS_PLANES, half ^= 1) {
            float *to = staged + half * stage + h0 * W_out + w0;
#pragma unroll
            for (int s = 0; s < MAPS_PLANES; s++, to += plane) {
                float weight[QUADS * 4], sum[ROWS][COLS] = {};
#pragma unroll
                for (int quad = 0; quad < QUADS; quad++)
                    *(float4 *)&weight[quad * 4] = weights[(m + s) * QUADS + quad];
#pragma unroll
                for (int p = 0; p < K; p++)
#pragma unroll
                    for (int q = 0; q < K; q++)
#pragma unroll
                        for (int r = 0; r < ROWS; r++)
#pragma unroll
                            for (int col = 0; col < COLS; col++)
                                sum[r][col] += window[r + p][q + col] * weight[p * K + q];
                if (threadIdx.x < places)
#pragma unroll
                    for (int r = 0; r < ROWS; r++)
#pragma unroll
                        for (int col = 0; col < COLS; col += 2)
                            *(float2 *)(to + r * W_out + col) =
                                make_float2(sum[r][col], sum[r][col + 1]);
            }
            /* Makes the stores visible to the copy unit. The previous copy must have read the
             * other half, which is filled next. */
            asm volatile("fence.proxy.async.shared::cta;");
            if (leads)
                asm volatile("cp.async.bulk.wait_group.read 0;");
            __syncthreads();
            if (leads)
                bulk_store(out + (size_t)m * plane, staged + half * stage, stage);
        }
    }
    if (leads)
        asm volatile("cp.async.bulk.wait_group.read 0;");
#endif
}

/** Writes the weights in the order of ring_weights. The last group contains the last MAPS_RING
 * maps, some of which are also in the group before it.
 * @param ordered  ring_weights, by its address in global memory */
template <int K>
__global__ void order_weights(struct conv_shape shape, const float *__restrict__ k,
                              float *__restrict__ ordered)
{
    const int M = shape.M, C = shape.C, groups = ROUND_UP(M, MAPS_RING) / MAPS_RING;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= C * K * groups * RUN(K))
        return;
    const int p = i % RUN(K) / MAPS_RING, q = i / RUN(K) % K;
    const int group = i / (RUN(K) * K) % groups, c = i / (RUN(K) * K * groups);
    const int m = min(group * MAPS_RING, M - MAPS_RING) + i % RUN(K) % MAPS_RING;
    ordered[i] = p < K ? k[(((size_t)m * C + c) * K + p) * K + q] : 0.0f;
}

/** For layers with several input maps: images come through a ring in shared memory, weights from
 * constant memory; the top of this file explains how.
 * @param slots  images that fit into the ring: at least as many as a step can reach
 * @param teams  groups of maps that are computed at the same time: a power of 2, at most WARPS_RING
 * @pre shape.K = K, M >= MAPS_RING, H_out >= ROWS_RING; ring_weights has been filled; dynamic
 * shared memory for `slots` images, each rounded up to 4 floats */
template <int K>
__global__ void __launch_bounds__(BLK_RING, 1)
    conv_ring(struct conv_shape shape, const float *__restrict__ x, float *__restrict__ y,
              int slots, int teams)
{
    extern __shared__ float ring[];
    const int M = shape.M, C = shape.C, H = shape.H, W = shape.W;
    const int H_out = H - K + 1, W_out = W - K + 1;
    const int groups = ROUND_UP(M, MAPS_RING) / MAPS_RING;
    const int columns_per_image = ROUND_UP(H_out, ROWS_RING) / ROWS_RING * W_out;
    const int image_elems = C * H * W, slot_elems = ROUND_UP(image_elems, 4);

    /* My columns and maps. Warps belong to the teams in turn. */
    const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0); /* known to be uniform */
    const int team = warp % teams, step = WARPS_RING / teams * 32;
    const int in_step = warp / teams * 32 + threadIdx.x % 32;

    const int images = (shape.B - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x;
    const int columns = images * columns_per_image;
    int fetched = 0; /* number of images whose copy into the ring has begun */
    const auto fetch_image = [&] {
        const float *from = x + (blockIdx.x + (size_t)fetched * gridDim.x) * image_elems;
        float *to = ring + fetched % slots * slot_elems;
        if (image_elems % 4 == 0)
            for (int i = threadIdx.x * 4; i < image_elems; i += BLK_RING * 4)
                __pipeline_memcpy_async(to + i, from + i, 4 * sizeof(float));
        else
            for (int i = threadIdx.x; i < image_elems; i += BLK_RING)
                __pipeline_memcpy_async(to + i, from + i, sizeof(float));
        fetched++;
    };
    for (int first = 0; first < columns; first += step) {
        /* 1. Fetches all images of this step; most were fetched during the previous step. */
        while (fetched <= (min(first + step, columns) - 1) / columns_per_image)
            fetch_image();
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();

        /* 2. Requests images for which a slot is free; no thread waits for them. */
        while (fetched < images && fetched < first / columns_per_image + slots)
            fetch_image();
        __pipeline_commit();

        /* 3. My column of this step; past the last column, the last one again, without storing it.
         * Warps that are entirely past it do nothing. */
        const int column = min(first + in_step, columns - 1), image = column / columns_per_image;
        const int place = column % columns_per_image, w = place % W_out;
        const int h0 = min(place / W_out * ROWS_RING, H_out - ROWS_RING);
        const bool idle = first + warp / teams * 32 >= columns;
        for (int group = idle ? groups : team; group < groups; group += teams) {
            const float *in = ring + image % slots * slot_elems + h0 * W + w;
            const float *weight = ring_weights + group * (K * RUN(K));
            float sum[MAPS_RING][ROWS_RING] = {};
#pragma unroll 1
            for (int c = 0; c < C; c++, in += H * W, weight += groups * (K * RUN(K)))
#pragma unroll
                for (int q = 0; q < K; q++) {
                    float window[ROWS_RING + K - 1];
#pragma unroll
                    for (int r = 0; r < ROWS_RING + K - 1; r++)
                        window[r] = in[r * W + q];
#pragma unroll
                    for (int p = 0; p < K; p++)
#pragma unroll
                        for (int r = 0; r < ROWS_RING; r++)
#pragma unroll
                            for (int m = 0; m < MAPS_RING; m++)
                                sum[m][r] += window[r + p] * weight[q * RUN(K) + p * MAPS_RING + m];
                }
            const size_t b = blockIdx.x + (size_t)image * gridDim.x;
            const int m0 = min(group * MAPS_RING, M - MAPS_RING);
            float *out = y + ((b * M + m0) * H_out + h0) * W_out + w;
            if (first + in_step < columns)
#pragma unroll
                for (int m = 0; m < MAPS_RING; m++)
#pragma unroll
                    for (int r = 0; r < ROWS_RING; r++)
                        out[((size_t)m * H_out + r) * W_out] = sum[m][r];
        }
        __syncthreads(); /* 4. The slots of images that are finished may be overwritten. */
    }
}

/** For all other layers: one thread per output. K = 0 stands for any filter. */
template <int K>
__global__ void __launch_bounds__(BLK_ANY)
    conv_any(struct conv_shape shape, const float *__restrict__ x, const float *__restrict__ k,
             float *__restrict__ y)
{
    const int taps = K ? K : shape.K; /* taps in a row of the filter */
    const size_t C = shape.C, M = shape.M, H = shape.H, W = shape.W;
    const size_t H_out = H - taps + 1, W_out = W - taps + 1, outputs = shape.B * M * H_out * W_out;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < outputs;
         i += (size_t)gridDim.x * blockDim.x) {
        const size_t w = i % W_out, h = i / W_out % H_out, m = i / (W_out * H_out) % M;
        const size_t b = i / (W_out * H_out * M);
        const float *in = x + (b * C * H + h) * W + w, *weight = k + m * C * taps * taps;
        float sum = 0.0f;
        for (size_t c = 0; c < C; c++, in += H * W, weight += taps * taps)
#pragma unroll
            for (int p = 0; p < taps; p++)
#pragma unroll
                for (int q = 0; q < taps; q++)
                    sum += in[p * W + q] * weight[p * taps + q];
        y[i] = sum;
    }
}

/** @return an attribute of the current device. */
static int device_has(enum cudaDeviceAttr what)
{
    int device = 0, value = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&value, what, device);
    return value;
}

static unsigned blocks_for(size_t threads, unsigned per_block)
{
    const size_t blocks = (threads + per_block - 1) / per_block;
    return (unsigned)(blocks < GRID_DIM_X ? blocks : GRID_DIM_X);
}

/** @return whether conv_one_map() was launched: it needs one input map, and indices below 2^31 */
template <int K>
static bool launch_one_map(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    const int H_out = shape->H - K + 1, W_out = shape->W - K + 1;
    const size_t bytes = (size_t)shape->M * ROUND_UP(K * K, 4) * sizeof(float);
    const int cols = shape->W % 2 == 0 && W_out % 2 == 0 ? 2 : 1;
    const size_t places =
        (size_t)shape->B * (ROUND_UP(H_out, ROWS_MAP) / ROWS_MAP) * (W_out / cols);
    if (shape->C != 1 || bytes > SHARED_MOST || places + BLK_MAP > GRID_DIM_X)
        return false;
    const unsigned blocks = blocks_for(places, BLK_MAP);
    if (cols == 2)
        conv_one_map<K, ROWS_MAP, 2><<<blocks, BLK_MAP, bytes>>>(*shape, x, k, y);
    else
        conv_one_map<K, ROWS_MAP, 1><<<blocks, BLK_MAP, bytes>>>(*shape, x, k, y);
    return true;
}

/** @return whether conv_planes() was launched. It needs code for a GPU with bulk copies, which must
 * begin at multiples of 16 bytes (of 32 to be fast); tiles that fill a map; and a batch with at
 * least two images for each block. */
template <int K>
static bool launch_planes(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    const int H_out = shape->H - K + 1, W_out = shape->W - K + 1;
    const size_t image = (size_t)shape->H * shape->W, plane = (size_t)H_out * W_out;
    const size_t bytes =
        (2 * image + 2 * MAPS_PLANES * plane + (size_t)shape->M * ROUND_UP(K * K, 4)) *
            sizeof(float) +
        2 * sizeof(uint64_t);
    const int blocks = 2 * device_has(cudaDevAttrMultiProcessorCount);
    cudaFuncAttributes compiled = {};
    const bool fills = H_out % ROWS_PLANES == 0 && W_out % COLS_PLANES == 0 &&
                       plane <= BLK_PLANES * ROWS_PLANES * COLS_PLANES &&
                       plane > BLK_PLANES / 2 * ROWS_PLANES * COLS_PLANES;
    const bool aligned = shape->W % 2 == 0 && shape->M % MAPS_PLANES == 0 && image % 4 == 0 &&
                         plane % 4 == 0 && ((uintptr_t)x | (uintptr_t)y) % 32 == 0;
    if (shape->C != 1 || shape->B < 2 * blocks || !fills || !aligned ||
        2 * (bytes + 1024) > (size_t)device_has(cudaDevAttrMaxSharedMemoryPerMultiprocessor) ||
        cudaFuncGetAttributes(&compiled, conv_planes<K>) || compiled.ptxVersion < 90)
        return false;
    cudaFuncSetAttribute(conv_planes<K>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    conv_planes<K><<<blocks, BLK_PLANES, bytes>>>(*shape, x, k, y);
    return true;
}

/** @return whether conv_ring() was launched: it needs images of which several fit into shared
 * memory, weights that fit into constant memory, and a full tile of rows and maps */
template <int K>
static bool launch_ring(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    const size_t H_out = shape->H - K + 1, W_out = shape->W - K + 1;
    const size_t groups = ROUND_UP((size_t)shape->M, MAPS_RING) / MAPS_RING;
    const size_t weights = shape->C * K * groups * RUN(K);
    const size_t slot = ROUND_UP((size_t)shape->C * shape->H * shape->W, 4) * sizeof(float);
    const size_t columns = ROUND_UP(H_out, ROWS_RING) / ROWS_RING * W_out;
    size_t slots = device_has(cudaDevAttrMaxSharedMemoryPerBlockOptin) / slot;
    slots = slots < SLOTS_MOST ? slots : SLOTS_MOST;

    int teams = 1;
    while (teams * 2 <= (int)groups && teams < WARPS_RING)
        teams *= 2;
    const size_t step = WARPS_RING / teams * 32;
    const size_t reached = (step + columns - 2) / columns + 1; /* images of one step, at most */
    if (shape->M < MAPS_RING || H_out < ROWS_RING || weights > WEIGHTS_MOST || slots < reached)
        return false;

    void *ordered = NULL;
    cudaGetSymbolAddress(&ordered, ring_weights);
    order_weights<K><<<blocks_for(weights, BLK_ANY), BLK_ANY>>>(*shape, k, (float *)ordered);
    cudaFuncSetAttribute(conv_ring<K>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         (int)(slots * slot));
    const int multiprocessors = device_has(cudaDevAttrMultiProcessorCount);
    const int blocks = shape->B < multiprocessors ? shape->B : multiprocessors;
    conv_ring<K><<<blocks, BLK_RING, slots * slot>>>(*shape, x, y, (int)slots, teams);
    return true;
}

/** Launches the fastest kernel that can compute this layer. */
template <int K>
static void launch_for_layer(const struct conv_shape *shape, const float *x, const float *k,
                             float *y)
{
    if constexpr (K <= 5) /* a larger window does not fit into the registers */
        if (launch_planes<K>(shape, x, k, y))
            return;
    if (launch_one_map<K>(shape, x, k, y) || launch_ring<K>(shape, x, k, y))
        return;
    const size_t outputs = (size_t)shape->B * shape->M * (shape->H - K + 1) * (shape->W - K + 1);
    conv_any<K><<<blocks_for(outputs, BLK_ANY), BLK_ANY>>>(*shape, x, k, y);
}
/* END SOLUTION */

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    /* BEGIN SOLUTION */
    //~ /* Returning 1 means that this is not implemented yet. Launch your kernels here, check with
    //~  * cudaGetLastError() that the launch was accepted, and return 0 if so. x, k and y are
    //~  * device pointers: do not read or write through them in this function. Delete the next line
    //~  * when you use its parameters. */
    //~ (void)shape, (void)x, (void)k, (void)y;
    //~ return 1;
    switch (shape->K) {
    case 3:
        launch_for_layer<3>(shape, x, k, y);
        break;
    case 5:
        launch_for_layer<5>(shape, x, k, y);
        break;
    case 7:
        launch_for_layer<7>(shape, x, k, y);
        break;
    default: {
        const size_t outputs =
            (size_t)shape->B * shape->M * (shape->H - shape->K + 1) * (shape->W - shape->K + 1);
        conv_any<0><<<blocks_for(outputs, BLK_ANY), BLK_ANY>>>(*shape, x, k, y);
    }
    }
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        fprintf(stderr, "m9: launch for %d maps of %d x %d, %d input maps, filter %d x %d: %s\n",
                shape->M, shape->H, shape->W, shape->C, shape->K, shape->K,
                cudaGetErrorString(error));
        return 1;
    }
    return 0;
    /* END SOLUTION */
}
