/* Submissions for m7: the sum over input maps by atomic additions. */
#include "common.cuh"

/* Adds the part of channels c0 up to but not including c1 to y, in PIECES. */
template <int PIECES>
__device__ void add(struct conv_shape shape, const float *x, const float *k, float *y, int b, int m,
                    int h, int w, int c0, int c1)
{
    SIZES;
    float sum = 0;
    for (int c = c0; c < c1; c++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                sum += X(b, c, h + p, w + q) * KK(m, c, p, q);
    for (int i = 0; i < PIECES; i++)
        atomicAdd(&Y(b, m, h, w), sum / PIECES);
}

template <int PIECES>
__global__ void channels_of_blocks(struct conv_shape shape, const float *x, const float *k,
                                   float *y, int channels)
{
    SIZES;
    const int parts = (C + channels - 1) / channels;
    const int b = blockIdx.z / parts / M, m = blockIdx.z / parts % M;
    const int c0 = blockIdx.z % parts * channels;
    const int h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    if (h < H_out && w < W_out)
        add<PIECES>(shape, x, k, y, b, m, h, w, c0, min(c0 + channels, C));
}

template <int PIECES> static int launch_blocks(ARGUMENTS, int channels)
{
    const int parts = (s->C + channels - 1) / channels;
    cudaMemsetAsync(y, 0, y_floats(s) * 4);
    channels_of_blocks<PIECES>
        <<<tiles(s, 16, s->B * s->M * parts), dim3(16, 16)>>>(*s, x, k, y, channels);
    return failed();
}

/* expect: pass */
SUBMISSION(right_blocks, launch_blocks<1>(s, x, k, y, 3))

/* The four threads along z of a block share the channels of one output; each adds its own part. */
__global__ void channels_of_threads(struct conv_shape shape, const float *x, const float *k,
                                    float *y)
{
    SIZES;
    const int b = blockIdx.z / M, m = blockIdx.z % M;
    const int h = blockIdx.y * 8 + threadIdx.y, w = blockIdx.x * 8 + threadIdx.x;
    if (h < H_out && w < W_out)
        for (int c = threadIdx.z; c < C; c += 4)
            add<1>(shape, x, k, y, b, m, h, w, c, c + 1);
}

/* expect: pass */
int right_threads(ARGUMENTS)
{
    cudaMemset(y, 0, y_floats(s) * 4);
    channels_of_threads<<<tiles(s, 8, s->B * s->M), dim3(8, 8, 4)>>>(*s, x, k, y);
    return failed();
}

/* One atomic addition of the whole sum. */
/* expect: 1.0 threads added products to each output by atomic operations */
SUBMISSION(decoy_whole_sum, launch_blocks<1>(s, x, k, y, s->C))

/* ... of two halves of it. */
/* expect (long): 1.0 threads added products to each output by atomic operations */
SUBMISSION(decoy_halves, launch_blocks<2>(s, x, k, y, s->C))

/* ... in a loop: the sum once, then zero. */
__global__ void rounds(struct conv_shape shape, const float *x, const float *k, float *y,
                       int pieces)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                sum += X(b, c, h + p, w + q) * KK(m, c, p, q);
#pragma unroll 1
    for (int i = 0; i < pieces; i++)
        atomicAdd(&Y(b, m, h, w), i ? 0 * sum : sum);
}

/* expect: 1.0 threads added products to each output by atomic operations */
int decoy_rounds(ARGUMENTS)
{
    cudaMemset(y, 0, y_floats(s) * 4);
    return LAUNCH_WITH(rounds, *s, x, k, y, 4);
}

/* Atomics, on scratch memory. */
/* expect: 0% of the products summed into y were added by an atomic operation */
int decoy_on_the_side(ARGUMENTS)
{
    float *dummy = floats(y_floats(s));
    return launch_blocks<1>(s, x, k, dummy, 1) || launch_plain(s, x, k, y);
}

/* A counter of threads that is never read. */
__global__ void counting(struct conv_shape shape, const float *x, const float *k, float *y,
                         float *counter)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        for (int i = 0; i < K * K; i++)
            sum += X(b, c, h + i / K, w + i % K) * KK(m, c, 0, i);
        atomicAdd(counter, 1.0f);
    }
    Y(b, m, h, w) = sum;
}

/* expect (long): 0% of the products summed into y were added by an atomic operation */
int decoy_counter(ARGUMENTS)
{
    float *counter = floats(1);
    cudaMemset(counter, 0, 4);
    return LAUNCH_WITH(counting, *s, x, k, y, counter);
}

/* The threads that share an output are lanes of one warp, and add to it in the same instruction. */
__global__ void channels_of_lanes(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const size_t t = (size_t)blockIdx.x * 256 + threadIdx.x, i = t / C;
    if (i >= (size_t)B * M * H_out * W_out)
        return;
    UNFLAT;
    atomicAdd(&y[i], channel_at(shape, x, k, b, m, t % C, h, w));
}

/* expect: pass */
int right_lanes(ARGUMENTS)
{
    cudaMemset(y, 0, y_floats(s) * 4);
    channels_of_lanes<<<(y_floats(s) * s->C + 255) / 256, 256>>>(*s, x, k, y);
    return failed();
}

/* The same, but they add in shared memory first: a block has 32 outputs and half of the channels. */
__global__ void lanes_then_block(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float s_sum[32];
    const int part = blockIdx.x % 2, mine = threadIdx.x / 4;
    const size_t i = (size_t)(blockIdx.x / 2) * 32 + mine;
    if (threadIdx.x < 32)
        s_sum[threadIdx.x] = 0;
    __syncthreads();
    if (i < (size_t)B * M * H_out * W_out) {
        UNFLAT;
        for (int c = part + 2 * (threadIdx.x % 4); c < C; c += 8)
            atomicAdd(&s_sum[mine], channel_at(shape, x, k, b, m, c, h, w));
    }
    __syncthreads();
    if (threadIdx.x % 4 == 0 && i < (size_t)B * M * H_out * W_out)
        atomicAdd(&y[i], s_sum[mine]);
}

/* expect (long): pass */
int right_lanes_then_block(ARGUMENTS)
{
    cudaMemset(y, 0, y_floats(s) * 4);
    lanes_then_block<<<2 * ((y_floats(s) + 31) / 32), 128>>>(*s, x, k, y);
    return failed();
}

/* By compare-and-swap. */
__global__ void by_swaps(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int c = blockIdx.z % C, b = blockIdx.z / C / M, m = blockIdx.z / C % M;
    const int h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    const float sum = channel_at(shape, x, k, b, m, c, h, w);
    add_by_swaps(&Y(b, m, h, w), sum);
}

/* expect (long): pass */
int right_swaps(ARGUMENTS)
{
    cudaMemset(y, 0, y_floats(s) * 4);
    by_swaps<<<tiles(s, 16, s->B * s->M * s->C), dim3(16, 16)>>>(*s, x, k, y);
    return failed();
}

/* Four threads of a block share the sum of a slice in shared memory; one of them adds it to y. */
__global__ void by_slices(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float s_sum[8][8];
    const int slice = blockIdx.z % 2, b = blockIdx.z / 2 / M, m = blockIdx.z / 2 % M;
    const int h = blockIdx.y * 8 + threadIdx.y, w = blockIdx.x * 8 + threadIdx.x;
    float *mine = &s_sum[threadIdx.y][threadIdx.x], sum = 0;
    if (threadIdx.z == 0)
        *mine = 0;
    __syncthreads();
    for (int c = slice + 2 * threadIdx.z; c < C && h < H_out && w < W_out; c += 8)
        for (int i = 0; i < K * K; i++)
            sum += X(b, c, h + i / K, w + i % K) * KK(m, c, 0, i);
    atomicAdd(mine, sum);
    __syncthreads();
    if (threadIdx.z == 0 && h < H_out && w < W_out)
        atomicAdd(&Y(b, m, h, w), *mine);
}

/* expect: pass */
int right_slices(ARGUMENTS)
{
    cudaMemset(y, 0, y_floats(s) * 4);
    by_slices<<<tiles(s, 8, 2 * s->B * s->M), dim3(8, 8, 4)>>>(*s, x, k, y);
    return failed();
}

/* Half of the blocks add nothing. */
__global__ void half_of_them(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int part = blockIdx.z % 2, b = blockIdx.z / 2 / M, m = blockIdx.z / 2 % M;
    const int h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    const float sum = sum_at(shape, x, k, b, m, h, w);
    atomicAdd(&Y(b, m, h, w), part ? sum - sum : sum);
}

/* expect (long): 1.0 threads added products to each output by atomic operations */
int decoy_half_of_them(ARGUMENTS)
{
    cudaMemset(y, 0, y_floats(s) * 4);
    half_of_them<<<tiles(s, 16, 2 * s->B * s->M), dim3(16, 16)>>>(*s, x, k, y);
    return failed();
}

/* The parts are added, but then the whole sum is stored. */
/* expect: 0% of the products summed into y were added by an atomic operation */
SUBMISSION(decoy_overwritten, launch_blocks<1>(s, x, k, y, 3) || launch_plain(s, x, k, y))
