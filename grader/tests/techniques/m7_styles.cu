/* More sums by atomic operations for m7. */
#include "gemm.cuh"
#include <cooperative_groups.h>
#include <cuda/atomic>
/* into scratch memory, then copied */
__global__ void add_to(struct conv_shape shape, const float *x, const float *k, float *to)
{
    FLAT_PLACE;
    const int c = blockIdx.y;
    const float sum = channel_at(shape, x, k, b, m, c, h, w);
    atomicAdd(&to[i], sum);
}
/* expect: pass */
int into_scratch(ARGUMENTS)
{
    const size_t n = y_floats(s);
    float *t = floats(n);
    cudaMemsetAsync(t, 0, n * 4);
    add_to<<<dim3((n + 255) / 256, s->C), 256>>>(*s, x, k, t);
    copy_floats<<<(n + 255) / 256, 256>>>(t, y, n);
    return failed();
}
/* expect: pass */
int into_scratch_memcpy(ARGUMENTS)
{
    const size_t n = y_floats(s);
    float *t = floats(n);
    cudaMemsetAsync(t, 0, n * 4);
    add_to<<<dim3((n + 255) / 256, s->C), 256>>>(*s, x, k, t);
    cudaMemcpyAsync(y, t, n * 4, cudaMemcpyDeviceToDevice);
    return failed();
}
/* double scratch */
__global__ void add_double(struct conv_shape shape, const float *x, const float *k, double *to)
{
    FLAT_PLACE;
    const int c = blockIdx.y;
    double sum = 0;
    for (int t = 0; t < K * K; t++)
        sum += (double)X(b, c, h + t / K, w + t % K) * KK(m, c, 0, t);
    atomicAdd(&to[i], sum);
}
/* expect: pass */
int double_scratch(ARGUMENTS)
{
    const size_t n = y_floats(s);
    double *t = (double *)conv_workspace(n * 8);
    cudaMemsetAsync(t, 0, n * 8);
    add_double<<<dim3((n + 255) / 256, s->C), 256>>>(*s, x, k, t);
    copy_floats<<<(n + 255) / 256, 256>>>(t, y, n);
    return failed();
}
/* split K of the fused product */
template <int S>
__global__ void split_k(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float s_k[16][16], s_u[16][16];
    const int ty = threadIdx.y, tx = threadIdx.x, m = blockIdx.y * 16 + ty, rows = C * K * K;
    const size_t cols = (size_t)B * H_out * W_out, col = (size_t)blockIdx.x * 16 + tx;
    float sum = 0;
    const int per = ((rows + S - 1) / S + 15) / 16 * 16, first = blockIdx.z * per,
              end = min(rows, first + per);
    for (int r0 = first; r0 < end; r0 += 16) {
        s_k[ty][tx] = m < M && r0 + tx < rows ? k[m * rows + r0 + tx] : 0;
        s_u[ty][tx] = element<true>(shape, x, cols, r0 + ty, col);
        __syncthreads();
        for (int r = 0; r < 16; r++)
            sum += s_k[ty][r] * s_u[r][tx];
        __syncthreads();
    }
    if (m < M && col < cols && first < end)
        atomicAdd(&Y(col / W_out / H_out, m, 0, col % ((size_t)W_out * H_out)), sum);
}
/* expect: pass */
int split_k_gemm(ARGUMENTS)
{
    cudaMemsetAsync(y, 0, y_floats(s) * 4);
    split_k<4><<<dim3((columns(s) + 15) / 16, (s->M + 15) / 16, 4), dim3(16, 16)>>>(*s, x, k, y);
    return failed();
}
/* atomic_ref */
__global__ void by_ref(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    const int c = blockIdx.y;
    const float sum = channel_at(shape, x, k, b, m, c, h, w);
    cuda::atomic_ref<float, cuda::thread_scope_device>(y[i]).fetch_add(sum,
                                                                       cuda::memory_order_relaxed);
}
/* expect: pass */
int atomic_ref(ARGUMENTS)
{
    const size_t n = y_floats(s);
    cudaMemsetAsync(y, 0, n * 4);
    by_ref<<<dim3((n + 255) / 256, s->C), 256>>>(*s, x, k, y);
    return failed();
}
/* inline PTX red; uses the returned value for a flag */
__global__ void by_red(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    for (int c = blockIdx.y; c < C; c += gridDim.y) {
        const float sum = channel_at(shape, x, k, b, m, c, h, w);
        asm volatile("red.global.add.f32 [%0], %1;" ::"l"(&y[i]), "f"(sum) : "memory");
    }
}
/* expect: pass */
int inline_red(ARGUMENTS)
{
    const size_t n = y_floats(s);
    cudaMemsetAsync(y, 0, n * 4);
    by_red<<<dim3((n + 255) / 256, min(s->C, 3)), 256>>>(*s, x, k, y);
    return failed();
}
/* a warp reduces the taps, lane 0 adds; blocks split the channels */
__global__ void warps(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const size_t i = ((size_t)blockIdx.x * 128 + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32, c = blockIdx.y;
    if (i >= (size_t)B * M * H_out * W_out)
        return;
    UNFLAT;
    float sum = 0;
    for (int t = lane; t < K * K; t += 32)
        sum += X(b, c, h + t / K, w + t % K) * KK(m, c, 0, t);
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (!lane)
        atomicAdd(y + i, sum);
}
/* expect: pass */
int warp_then_atomic(ARGUMENTS)
{
    const size_t n = y_floats(s);
    cudaMemsetAsync(y, 0, n * 4);
    warps<<<dim3((n + 3) / 4, s->C), 128>>>(*s, x, k, y);
    return failed();
}
/* every product atomically */
__global__ void each(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    const int c = blockIdx.y;
    for (int t = 0; t < K * K; t++)
        atomicAdd(&y[i], X(b, c, h + t / K, w + t % K) * KK(m, c, 0, t));
}
/* expect: pass */
int every_product(ARGUMENTS)
{
    const size_t n = y_floats(s);
    cudaMemsetAsync(y, 0, n * 4);
    each<<<dim3((n + 255) / 256, s->C), 256>>>(*s, x, k, y);
    return failed();
}
/* scatter: each thread owns an element of x and adds to all outputs that it affects */
__global__ void scatter(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const size_t i = (size_t)blockIdx.x * 128 + threadIdx.x;
    if (i >= (size_t)B * C * H * W)
        return;
    const int w = i % W, h = i / W % H, c = i / W / H % C, b = i / W / H / C;
    const float v = x[i];
    for (int m = 0; m < M; m++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                if (h - p >= 0 && h - p < H_out && w - q >= 0 && w - q < W_out)
                    atomicAdd(&Y(b, m, h - p, w - q), v * KK(m, c, p, q));
}
/* expect: pass */
int scatters(ARGUMENTS)
{
    cudaMemsetAsync(y, 0, y_floats(s) * 4);
    const size_t n = x_floats(s);
    scatter<<<(n + 127) / 128, 128>>>(*s, x, k, y);
    return failed();
}
/* a kernel clears y; one launch per channel, one after the other */
__global__ void one_channel(struct conv_shape shape, const float *x, const float *k, float *y,
                            int c)
{
    FLAT_PLACE;
    const float sum = channel_at(shape, x, k, b, m, c, h, w);
    atomicAdd(&y[i], sum);
}
__global__ void clear(float *y, size_t n)
{
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        y[i] = 0;
}
/* expect: pass */
int launch_per_channel(ARGUMENTS)
{
    const size_t n = y_floats(s);
    clear<<<(n + 255) / 256, 256>>>(y, n);
    for (int c = 0; c < s->C; c++)
        one_channel<<<(n + 255) / 256, 256>>>(*s, x, k, y, c);
    return failed();
}
/* fixed point, so that the order of the additions does not matter */
__global__ void add_fixed(struct conv_shape shape, const float *x, const float *k,
                          unsigned long long *sums)
{
    SIZES;
    const int c = blockIdx.z % C, b = blockIdx.z / C / M, m = blockIdx.z / C % M;
    const int h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    const float sum = channel_at(shape, x, k, b, m, c, h, w);
    atomicAdd(&sums[(((size_t)b * M + m) * H_out + h) * W_out + w],
              (unsigned long long)__float2ll_rn(sum * 0x1p40f));
}
__global__ void to_floats(const unsigned long long *sums, float *y, size_t n)
{
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        y[i] = (float)(long long)sums[i] * 0x1p-40f;
}
/* expect: pass */
int fixed_point_sums(ARGUMENTS)
{
    const size_t n = y_floats(s);
    unsigned long long *sums = (unsigned long long *)conv_workspace(n * 8);
    cudaMemset(sums, 0, n * 8);
    add_fixed<<<tiles(s, 16, s->B * s->M * s->C), dim3(16, 16)>>>(*s, x, k, sums);
    to_floats<<<(n + 255) / 256, 256>>>(sums, y, n);
    return failed();
}
/* one cooperative launch, as many blocks as are resident at once: clears y, waits for the whole
 * grid, and adds */
__global__ void clear_and_add(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const size_t n = (size_t)B * M * H_out * W_out;
    for (size_t i = grid.thread_rank(); i < n; i += grid.size())
        y[i] = 0;
    grid.sync();
    for (size_t t = grid.thread_rank(); t < n * C; t += grid.size()) {
        const size_t i = t % n;
        UNFLAT;
        atomicAdd(&y[i], channel_at(shape, x, k, b, m, (int)(t / n), h, w));
    }
}
/* expect: pass */
int cooperative_launch(ARGUMENTS)
{
    int blocks = 0, multiprocessors = 0;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, clear_and_add, 256, 0);
    struct conv_shape shape = *s;
    void *arguments[] = {&shape, &x, &k, &y};
    return cudaLaunchCooperativeKernel((void *)clear_and_add, multiprocessors * blocks, 256,
                                       arguments, 0, 0) != cudaSuccess;
}
/* the lanes of a warp add to the same outputs by compare-and-swap, one product at a time */
__global__ void swapped_taps(struct conv_shape shape, const float *x, const float *k, float *to)
{
    SIZES;
    const size_t i = ((size_t)blockIdx.x * 128 + threadIdx.x) / 8;
    if (i >= (size_t)B * M * H_out * W_out)
        return;
    UNFLAT;
    for (int t = threadIdx.x % 8; t < C * K * K; t += 8)
        add_by_swaps(&to[i], X(b, t / (K * K), h + t / K % K, w + t % K) * KK(m, 0, 0, t));
}
/* expect: pass */
int swaps_of_lanes(ARGUMENTS)
{
    const size_t n = y_floats(s);
    cudaMemset(y, 0, n * 4);
    swapped_taps<<<(8 * n + 127) / 128, 128>>>(*s, x, k, y);
    return failed();
}
/* Two threads compute halves of a sum; other threads add them, from shared memory or by shuffles. */
__global__ void halves_by_others(struct conv_shape shape, const float *x, const float *k, float *y,
                                 bool by_shuffle)
{
    SIZES;
    __shared__ float part[2][64];
    const size_t n = (size_t)B * M * H_out * W_out, i = (size_t)blockIdx.x * 64 + threadIdx.x;
    const int half = threadIdx.y, from = half * (C / 2), to = half ? C : C / 2;
    float sum = 0;
    if (i < n) {
        UNFLAT;
        for (int c = from; c < to; c++)
            sum += channel_at(shape, x, k, b, m, c, h, w);
    }
    part[half][threadIdx.x] = sum;
    __syncthreads();
    const size_t other = by_shuffle ? i ^ 1 : (size_t)blockIdx.x * 64 + (threadIdx.x + 5) % 64;
    const float given =
        by_shuffle ? __shfl_xor_sync(0xffffffff, sum, 1) : part[half][(threadIdx.x + 5) % 64];
    if (other < n)
        atomicAdd(&y[other], given);
}
template <bool BY_SHUFFLE> static int by_others(ARGUMENTS)
{
    cudaMemsetAsync(y, 0, y_floats(s) * sizeof(float));
    halves_by_others<<<(y_floats(s) + 63) / 64, dim3(64, 2)>>>(*s, x, k, y, BY_SHUFFLE);
    return failed();
}
/* expect: pass */
SUBMISSION(added_by_others, by_others<false>(s, x, k, y))
/* expect: pass */
SUBMISSION(added_after_shuffles, by_others<true>(s, x, k, y))
