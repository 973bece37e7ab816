/* Submissions for m3: the input tile in shared memory. */
#include "m3.cuh"

/* The tile with its halo, one input map after the other; weights are staged too. */
__global__ void tile(struct conv_shape shape, const float *x, const float *k, float *y)
{
    TILE_PLACE;
    float *s_k = s_x + side * side;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        LOAD_TILE(c);
        for (int i = t; i < K * K; i += 256)
            s_k[i] = KK(m, c, 0, i);
        __syncthreads();
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                sum += s_x[(threadIdx.y + p) * side + threadIdx.x + q] * s_k[p * K + q];
        __syncthreads();
    }
    STORE(sum);
}

static int launch_tile(ARGUMENTS)
{
    return TILE(tile, TILE_FLOATS + s->K * s->K);
}

/* expect: pass */
SUBMISSION(right_tile, launch_tile(s, x, k, y))

/* With the technique, but every output is computed four times. */
/* expect: slow */
int slow_tile(ARGUMENTS)
{
    float *dummy = floats(y_floats(s));
    for (int i = 0; i < 3; i++)
        launch_tile(s, x, k, dummy);
    return launch_tile(s, x, k, y);
}

/* One-dimensional blocks: 64 threads stage K rows, K * 64 + K - 1 elements, of all channels; each
 * computes one output of one row for four maps, from registers. */
__global__ void rows(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float s_row[40][64 + 39];
    const int b = blockIdx.z, h = blockIdx.y, w0 = blockIdx.x * 64, w = w0 + threadIdx.x;
    for (int m0 = 0; m0 < M; m0 += 4) {
        float sum[4] = {0, 0, 0, 0};
        for (int c = 0; c < C; c++) {
            for (int p = 0; p < K; p++)
                for (int i = threadIdx.x; i < 64 + K - 1; i += 64)
                    s_row[p][i] = w0 + i < W ? X(b, c, h + p, w0 + i) : 0;
            __syncthreads();
            for (int p = 0; p < K; p++)
                for (int q = 0; q < K; q++) {
                    const float v = s_row[p][threadIdx.x + q];
                    for (int j = 0; j < 4; j++)
                        sum[j] += m0 + j < M ? v * KK(m0 + j, c, p, q) : 0;
                }
            __syncthreads();
        }
        for (int j = 0; j < 4; j++)
            if (w < W_out && m0 + j < M)
                Y(b, m0 + j, h, w) = sum[j];
    }
}

/* expect: pass */
int right_rows(ARGUMENTS)
{
    if (s->K > 40)
        return launch_plain(s, x, k, y);
    rows<<<dim3((s->W - s->K + 64) / 64, s->H - s->K + 1, s->B), 64>>>(*s, x, k, y);
    return failed();
}

/* Four outputs of a row per thread, whose window is read from shared memory as float4. */
__global__ void vectors(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float4 s_x[8 + 39][(32 + 40) / 4];
    const int b = blockIdx.z / M, m = blockIdx.z % M;
    const int h0 = blockIdx.y * 8, w0 = blockIdx.x * 32;
    const int h = h0 + threadIdx.y, w = w0 + 4 * threadIdx.x;
    float sum[4] = {0, 0, 0, 0};
    for (int c = 0; c < C; c++) {
        for (int r = threadIdx.y; r < 8 + K - 1; r += 8)
            for (int i = threadIdx.x; i < 32 + 40; i += 8)
                ((float *)s_x[r])[i] = h0 + r < H && w0 + i < W ? X(b, c, h0 + r, w0 + i) : 0;
        __syncthreads();
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q += 4) {
                const float4 left = s_x[threadIdx.y + p][threadIdx.x + q / 4];
                const float4 right = s_x[threadIdx.y + p][threadIdx.x + q / 4 + 1];
                const float v[8] = {left.x,  left.y,  left.z,  left.w,
                                    right.x, right.y, right.z, right.w};
                for (int j = 0; j < 4; j++) {
                    const float weight = q + j < K ? KK(m, c, p, q + j) : 0;
                    for (int o = 0; o < 4; o++)
                        sum[o] += v[j + o] * weight;
                }
            }
        __syncthreads();
    }
    for (int o = 0; o < 4; o++)
        if (h < H_out && w + o < W_out)
            Y(b, m, h, w + o) = sum[o];
}

/* expect: pass */
int right_vectors(ARGUMENTS)
{
    if (s->K > 36)
        return launch_plain(s, x, k, y);
    vectors<<<dim3((s->W - s->K + 32) / 32, (s->H - s->K + 8) / 8, s->B * s->M), dim3(8, 8)>>>(
        *s, x, k, y);
    return failed();
}

/* Shared memory occurs only in the comment and in a kernel that is never called. */
/* expect: 0% of the products summed into y take x from shared memory */
SUBMISSION(decoy_mentioned, launch_plain(s, x, k, y))

/* Present, but never reached. */
/* expect (long): 0% of the products summed into y take x from shared memory */
SUBMISSION(decoy_dead_branch, s->B < 0 ? launch_tile(s, x, k, y) : launch_plain(s, x, k, y))

/* The tile is filled and never read. */
__global__ void written(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ volatile float s_x[256];
    const int b = blockIdx.z / M, m = blockIdx.z % M;
    const int h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        s_x[threadIdx.y * 16 + threadIdx.x] = h < H && w < W ? X(b, c, h, w) : 0;
        __syncthreads();
        for (int i = 0; i < K * K && h < H_out && w < W_out; i++)
            sum += X(b, c, h + i / K, w + i % K) * KK(m, c, 0, i);
        __syncthreads();
    }
    STORE(sum);
}

/* expect: 0% of the products summed into y take x from shared memory */
SUBMISSION(decoy_written_never_read, LAUNCH(written))

/* The technique also runs, but its results are unused. */
/* expect (long): 0% of the products summed into y take x from shared memory */
int decoy_on_the_side(ARGUMENTS)
{
    float *dummy = floats(y_floats(s));
    return launch_tile(s, x, k, dummy) || launch_plain(s, x, k, y);
}

/* ... or overwritten. */
/* expect: 0% of the products summed into y take x from shared memory */
SUBMISSION(decoy_overwritten, launch_tile(s, x, k, y) || launch_plain(s, x, k, y))

/* Each thread passes elements only to itself through shared memory. */
__global__ void own(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ volatile float s_x[256];
    const int b = blockIdx.z / M, m = blockIdx.z % M, t = threadIdx.y * 16 + threadIdx.x;
    const int h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++) {
            if (h < H_out && w < W_out)
                s_x[t] = X(b, c, h + i / K, w + i % K);
            __syncthreads();
            if (h < H_out && w < W_out)
                sum += s_x[t] * KK(m, c, 0, i);
        }
    STORE(sum);
}

/* expect: each element stored to shared memory was loaded from there 1.0 times */
SUBMISSION(decoy_no_reuse, LAUNCH(own))

/* Only the weights are staged. */
__global__ void weights(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s_k[];
    const int b = blockIdx.z / M, m = blockIdx.z % M, t = threadIdx.y * 16 + threadIdx.x;
    const int h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    for (int i = t; i < C * K * K; i += 256)
        s_k[i] = KK(m, 0, 0, i);
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < C * K * K && h < H_out && w < W_out; i++)
        sum += X(b, i / K / K, h + i / K % K, w + i % K) * s_k[i];
    STORE(sum);
}

/* expect (long): 0% of the products summed into y take x from shared memory */
int decoy_weights_only(ARGUMENTS)
{
    weights<<<tiles(s, 16, s->B * s->M), dim3(16, 16), s->C * s->K * s->K * 4>>>(*s, x, k, y);
    return failed();
}

/* ---- other styles ---------------------------------------------------------------------------- */

#include <cooperative_groups.h>
#include <cuda_pipeline.h>

/* Loaded by asynchronous copies, one input map ahead. */
__global__ void ahead(struct conv_shape shape, const float *x, const float *k, float *y)
{
    TILE_PLACE;
    const auto block = cooperative_groups::this_thread_block();
    const auto load = [&](int c) {
        for (int i = t; i < side * side; i += 256)
            if (h0 + i / side < H && w0 + i % side < W)
                __pipeline_memcpy_async(&s_x[c % 2 * side * side + i],
                                        &X(b, c, h0 + i / side, w0 + i % side), 4);
        __pipeline_commit();
    };
    float sum = 0;
    load(0);
    for (int c = 0; c < C; c++) {
        if (c + 1 < C)
            load(c + 1);
        __pipeline_wait_prior(c + 1 < C);
        block.sync();
        for (int p = 0; p < K && h < H_out && w < W_out; p++)
            for (int q = 0; q < K; q++)
                sum += s_x[c % 2 * side * side + (threadIdx.y + p) * side + threadIdx.x + q] *
                       KK(m, c, p, q);
        block.sync();
    }
    STORE(sum);
}

/* expect: pass */
SUBMISSION(right_ahead, TILE(ahead, 2 * TILE_FLOATS))

/* A tile as an object, whose functions are not inlined. */
struct tile_of_x {
    float *room;
    int side;
    __device__ __noinline__ void load(const float *x, int W, int height, int width)
    {
        for (int i = threadIdx.y * 16 + threadIdx.x; i < side * side; i += 256)
            room[i] = i / side < height && i % side < width ? x[i / side * W + i % side] : 0;
    }
    template <typename F> __device__ float fold(int K, F weight) const
    {
        float sum = 0;
        for (int i = 0; i < K * K; i++)
            sum += at(threadIdx.y + i / K, threadIdx.x + i % K) * weight(i);
        return sum;
    }
    __device__ __noinline__ float at(int row, int column) const
    {
        return room[row * side + column];
    }
};
__global__ void object(struct conv_shape shape, const float *x, const float *k, float *y)
{
    TILE_PLACE;
    struct tile_of_x tile = {s_x, side};
    float sum = 0;
    (void)t;
    for (int c = 0; c < C; c++) {
        tile.load(&X(b, c, h0, w0), W, H - h0, W - w0);
        __syncthreads();
        sum += tile.fold(K, [=](int i) { return KK(m, c, 0, i); });
        __syncthreads();
    }
    STORE(sum);
}

/* expect (long): pass */
SUBMISSION(right_object, TILE(object, TILE_FLOATS))

/* ---- an unused tile -------------------------------------------------------------------------- */

/* TERM has the element of x as `mine`, and the same element of the tile as `tiled`. */
#define SUBMISSION_BESIDE(name, TERM)                                                              \
    __global__ void name##_kernel(struct conv_shape shape, const float *x, const float *k,         \
                                  float *y)                                                        \
    {                                                                                              \
        TILE_PLACE;                                                                                \
        const float zero = shape.B - B;                                                            \
        float sum = 0;                                                                             \
        for (int c = 0; c < C; c++) {                                                              \
            LOAD_TILE(c);                                                                          \
            __syncthreads();                                                                       \
            for (int i = 0; i < K * K && h < H_out && w < W_out; i++) {                            \
                const float mine = X(b, c, h + i / K, w + i % K), weight = KK(m, c, 0, i);         \
                const float tiled = TILED(i);                                                      \
                (void)zero;                                                                        \
                TERM;                                                                              \
            }                                                                                      \
            __syncthreads();                                                                       \
        }                                                                                          \
        STORE(sum);                                                                                \
    }                                                                                              \
    SUBMISSION(name, TILE(name##_kernel, TILE_FLOATS))

/* expect: 0% of the products summed into y take x from shared memory */
SUBMISSION_BESIDE(decoy_never_taken, sum += (zero != 0 || tiled == 1e30f ? tiled : mine) * weight)

/* expect (long): 0% of the products summed into y take x from shared memory */
SUBMISSION_BESIDE(decoy_taken_away, sum += (mine + tiled - tiled) * weight)

/* expect: 0% of the products summed into y take x from shared memory */
SUBMISSION_BESIDE(decoy_cancelled, float more = tiled * weight; sum += mine * weight; sum += more;
                  sum -= more)

/* expect: 50% of the products summed into y take x from shared memory */
SUBMISSION_BESIDE(decoy_some_maps, sum += (c % 2 ? mine : tiled) * weight)

/* The pointers are in memory. */
__global__ void pointed(struct conv_shape shape, const float *const *pointers, float *y)
{
    SIZES;
    const float *x = pointers[0], *k = pointers[1];
    const int b = blockIdx.z / M, m = blockIdx.z % M;
    const int h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    Y(b, m, h, w) = sum_at(shape, x, k, b, m, h, w);
}

/* expect (long): 0% of the products summed into y take x from shared memory */
int decoy_pointers_in_memory(ARGUMENTS)
{
    const float *pointers[2] = {x, k};
    float *there = floats(4);
    cudaMemcpy(there, pointers, sizeof pointers, cudaMemcpyHostToDevice);
    return LAUNCH_WITH(pointed, *s, (const float *const *)there, y);
}
