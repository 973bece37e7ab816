/* More tiles for m3: halos, barriers, loading warps, several maps, registers. */
#include "m3.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
/* PMPP: halo cells from global memory (cache) */
template <int T>
__global__ void cached_halo(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float s_x[T][T];
    const int b = blockIdx.z / M, m = blockIdx.z % M, h = blockIdx.y * T + threadIdx.y,
              w = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        s_x[threadIdx.y][threadIdx.x] = h < H && w < W ? X(b, c, h, w) : 0;
        __syncthreads();
        if (h < H_out && w < W_out)
            for (int p = 0; p < K; p++)
                for (int q = 0; q < K; q++) {
                    const int r = threadIdx.y + p, o = threadIdx.x + q;
                    sum += (r < T && o < T ? s_x[r][o] : X(b, c, h + p, w + q)) * KK(m, c, p, q);
                }
        __syncthreads();
    }
    STORE(sum);
}
/* expect: pass */
SUBMISSION_LAUNCH(halo_from_cache_16,
                  cached_halo<16><<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y))
/* expect: pass */
SUBMISSION_LAUNCH(halo_from_cache_32,
                  cached_halo<32><<<tiles(s, 32, s->B * s->M), dim3(32, 32)>>>(*s, x, k, y))
/* PMPP: a block as large as the input tile; some threads do not compute */
__global__ void input_sized(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s_x[];
    const int T = blockDim.x, O = T - K + 1, b = blockIdx.z / M, m = blockIdx.z % M;
    const int h = blockIdx.y * O + threadIdx.y, w = blockIdx.x * O + threadIdx.x;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        s_x[threadIdx.y * T + threadIdx.x] = h < H && w < W ? X(b, c, h, w) : 0.0f;
        __syncthreads();
        if (threadIdx.y < O && threadIdx.x < O)
            for (int p = 0; p < K; p++)
                for (int q = 0; q < K; q++)
                    sum += s_x[(threadIdx.y + p) * T + threadIdx.x + q] * KK(m, c, p, q);
        __syncthreads();
    }
    if (threadIdx.y < O && threadIdx.x < O && h < H_out && w < W_out)
        Y(b, m, h, w) = sum;
}
/* expect: pass */
int block_of_input_tile(ARGUMENTS)
{
    const int T = s->K <= 16 ? 32 : 32, O = T - s->K + 1;
    if (O < 1)
        return launch_plain(s, x, k, y);
    input_sized<<<dim3((s->W - s->K + O) / O, (s->H - s->K + O) / O, s->B * s->M), dim3(T, T),
                  T * T * 4>>>(*s, x, k, y);
    return 0;
}
/* all channels at once */
__global__ void all_channels(struct conv_shape shape, const float *x, const float *k, float *y)
{
    TILE_PLACE;
    for (int i = t; i < C * side * side; i += 256) {
        const int c = i / side / side, r = i / side % side, o = i % side;
        s_x[i] = h0 + r < H && w0 + o < W ? X(b, c, h0 + r, w0 + o) : 0;
    }
    __syncthreads();
    if (h >= H_out || w >= W_out)
        return;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++)
            sum +=
                s_x[(c * side + threadIdx.y + i / K) * side + threadIdx.x + i % K] * KK(m, c, 0, i);
    Y(b, m, h, w) = sum;
}
/* expect: pass */
SUBMISSION(all_input_maps, TILE(all_channels, s->C *TILE_FLOATS))
/* shared tile with cuda::barrier */
__global__ void barriers(struct conv_shape shape, const float *x, const float *k, float *y)
{
    TILE_PLACE;
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    auto block = cg::this_thread_block();
    if (t == 0)
        init(&bar, 256);
    block.sync();
    float sum = 0;
    for (int c = 0; c < C; c++) {
        LOAD_TILE(c);
        bar.arrive_and_wait();
        for (int i = 0; i < K * K && h < H_out && w < W_out; i++)
            sum += TILED(i) * KK(m, c, 0, i);
        bar.arrive_and_wait();
    }
    STORE(sum);
}
/* expect: pass */
SUBMISSION(cuda_barrier, TILE(barriers, TILE_FLOATS))
/* lambdas in a struct */
template <typename L, typename U> struct stages {
    L load;
    U use;
};
template <typename L, typename U> __device__ void run(const stages<L, U> &st, int C)
{
    for (int c = 0; c < C; c++) {
        st.load(c);
        __syncthreads();
        st.use(c);
        __syncthreads();
    }
}
__global__ void lambdas(struct conv_shape shape, const float *x, const float *k, float *y)
{
    TILE_PLACE;
    float sum = 0;
    auto load = [&](int c) { LOAD_TILE(c); };
    auto use = [&](int c) {
        for (int i = 0; i < K * K; i++)
            sum += TILED(i) * KK(m, c, 0, i);
    };
    run(stages<decltype(load), decltype(use)>{load, use}, C);
    STORE(sum);
}
/* expect: pass */
SUBMISSION(lambdas_in_struct, TILE(lambdas, TILE_FLOATS))
/* one warp per tile of rows, __syncwarp, a window that slides through registers */
__global__ void warp_tile(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s_x[];
    const int lane = threadIdx.x, b = blockIdx.z / M, m = blockIdx.z % M, h0 = blockIdx.y * 4,
              w0 = blockIdx.x * 32, wide = 32 + K - 1, w = w0 + lane;
    float sum[4] = {};
    for (int c = 0; c < C; c++) {
        for (int r = 0; r < 4 + K - 1; r++)
            for (int i = lane; i < wide; i += 32)
                s_x[r * wide + i] = h0 + r < H && w0 + i < W ? X(b, c, h0 + r, w0 + i) : 0;
        __syncwarp();
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++) {
                const float f = KK(m, c, p, q);
#pragma unroll
                for (int j = 0; j < 4; j++)
                    sum[j] += s_x[(j + p) * wide + lane + q] * f;
            }
        __syncwarp();
    }
    for (int j = 0; j < 4; j++)
        if (h0 + j < H_out && w < W_out)
            Y(b, m, h0 + j, w) = sum[j];
}
/* expect: pass */
int warp_synchronous(ARGUMENTS)
{
    if ((4 + s->K) * (32 + s->K) * 4 > 48000)
        return launch_plain(s, x, k, y);
    warp_tile<<<dim3((s->W - s->K + 32) / 32, (s->H - s->K + 4) / 4, s->B * s->M), 32,
                (3 + s->K) * (31 + s->K) * 4>>>(*s, x, k, y);
    return 0;
}
/* separate loading warps (producer / consumer) with named barriers in ptx */
__global__ void produce(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s_x[];
    const int side = 16 + K - 1, b = blockIdx.z / M, m = blockIdx.z % M, h0 = blockIdx.y * 16,
              w0 = blockIdx.x * 16;
    const int t = threadIdx.x;
    float sum = 0;
    const int h = h0 + t % 256 / 16, w = w0 + t % 16;
    for (int c = 0; c <= C; c++) {
        if (t >= 256) {
            if (c < C)
                for (int i = t - 256; i < side * side; i += 64)
                    s_x[c % 2 * side * side + i] = h0 + i / side < H && w0 + i % side < W
                                                       ? X(b, c, h0 + i / side, w0 + i % side)
                                                       : 0;
        } else if (c > 0 && h < H_out && w < W_out)
            for (int i = 0; i < K * K; i++)
                sum += s_x[(c - 1) % 2 * side * side + (t / 16 + i / K) * side + t % 16 + i % K] *
                       KK(m, c - 1, 0, i);
        asm volatile("barrier.sync 1, 320;" ::: "memory");
    }
    if (t < 256 && h < H_out && w < W_out)
        Y(b, m, h, w) = sum;
}
/* expect: pass */
int loading_warps(ARGUMENTS)
{
    if (2 * TILE_FLOATS * 4 > 48000)
        return launch_plain(s, x, k, y);
    produce<<<tiles(s, 16, s->B * s->M), 320, 2 * TILE_FLOATS * 4>>>(*s, x, k, y);
    return 0;
}
/* tile of float2 in shared memory, padded stride */
__global__ void many_maps(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s_x[];
    const int side = 16 + K - 1, b = blockIdx.z, h0 = blockIdx.y * 16, w0 = blockIdx.x * 16,
              t = threadIdx.x, ty = t / 16, tx = t % 16;
    float *s_k = s_x + side * side;
    for (int m0 = 0; m0 < M; m0 += 6) {
        float sum[6] = {};
        for (int c = 0; c < C; c++) {
            __syncthreads();
            for (int i = t; i < side * side; i += 256) {
                const int r = min(h0 + i / side, H - 1), o = min(w0 + i % side, W - 1);
                s_x[i] = __ldg(&X(b, c, r, o));
            }
            for (int i = t; i < 6 * K * K; i += 256)
                s_k[i / 6 * 6 + i % 6] = m0 + i % 6 < M ? KK(m0 + i % 6, c, 0, i / 6) : 0;
            __syncthreads();
            for (int i = 0; i < K * K; i++) {
                const float v = s_x[(ty + i / K) * side + tx + i % K];
#pragma unroll
                for (int j = 0; j < 6; j++)
                    sum[j] = fmaf(v, s_k[i * 6 + j], sum[j]);
            }
        }
        for (int j = 0; j < 6 && m0 + j < M; j++)
            if (h0 + ty < H_out && w0 + tx < W_out)
                Y(b, m0 + j, h0 + ty, w0 + tx) = sum[j];
    }
}
/* expect: pass */
int many_maps_each(ARGUMENTS)
{
    const int n = TILE_FLOATS + 6 * s->K * s->K;
    if (n * 4 > 48000)
        return launch_plain(s, x, k, y);
    many_maps<<<tiles(s, 16, s->B), 256, n * 4>>>(*s, x, k, y);
    return 0;
}
/* texture to shared memory: the tile is loaded by tex */
__global__ void tex_tile(struct conv_shape shape, cudaTextureObject_t tx, const float *k, float *y)
{
    TILE_PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        for (int i = t; i < side * side; i += 256)
            s_x[i] =
                h0 + i / side < H && w0 + i % side < W
                    ? tex1Dfetch<float>(tx, ((b * C + c) * H + h0 + i / side) * W + w0 + i % side)
                    : 0;
        __syncthreads();
        for (int i = 0; i < K * K; i++)
            sum += TILED(i) * KK(m, c, 0, i);
        __syncthreads();
    }
    STORE(sum);
}
/* expect: pass */
int texture_to_tile(ARGUMENTS)
{
    const cudaTextureObject_t t = texture_of(x, x_floats(s));
    return TILE_LAUNCH(tex_tile, TILE_FLOATS, *s, t, k, y) || destroy_texture(t);
}
/* a whole map in dynamic shared memory */
__global__ void whole_map(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s_x[];
    const int b = blockIdx.x;
    for (int c = 0; c < C; c++) {
        __syncthreads();
        for (int i = threadIdx.x; i < H * W; i += blockDim.x)
            s_x[i] = X(b, c, 0, i);
        __syncthreads();
        for (int i = threadIdx.x; i < M * H_out * W_out; i += blockDim.x) {
            const int w = i % W_out, h = i / W_out % H_out, m = i / W_out / H_out;
            float sum = c ? Y(b, m, h, w) : 0;
            for (int p = 0; p < K; p++)
                for (int q = 0; q < K; q++)
                    sum += s_x[(h + p) * W + w + q] * KK(m, c, p, q);
            Y(b, m, h, w) = sum;
        }
    }
}
/* expect: pass */
int whole_map_in_shared(ARGUMENTS)
{
    const int n = s->H * s->W * 4;
    if (n > 200000)
        return launch_plain(s, x, k, y);
    cudaFuncSetAttribute(whole_map, cudaFuncAttributeMaxDynamicSharedMemorySize, n);
    whole_map<<<s->B, 256, n>>>(*s, x, k, y);
    return failed();
}
/* registers slide along the row: each x is read from shared memory once for K outputs */
__global__ void sliding(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s_x[];
    const int b = blockIdx.z / M, m = blockIdx.z % M, h0 = blockIdx.y * 32, w0 = blockIdx.x * 16,
              wide = 16 + K - 1, tall = 32 + K - 1, h = h0 + threadIdx.x;
    float sum[16] = {};
    for (int c = 0; c < C; c++) {
        for (int i = threadIdx.x; i < tall * wide; i += 32)
            s_x[i] =
                h0 + i / wide < H && w0 + i % wide < W ? X(b, c, h0 + i / wide, w0 + i % wide) : 0;
        __syncthreads();
        for (int p = 0; p < K; p++) {
            const float *row = s_x + (threadIdx.x + p) * wide;
            for (int q = 0; q < K; q++) {
                const float f = KK(m, c, p, q);
#pragma unroll
                for (int j = 0; j < 16; j++)
                    sum[j] += row[q + j] * f;
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 16; j++)
        if (h < H_out && w0 + j < W_out)
            Y(b, m, h, w0 + j) = sum[j];
}
/* expect: pass */
int rows_of_sixteen(ARGUMENTS)
{
    const int n = (32 + s->K) * (16 + s->K) * 4;
    if (n > 48000)
        return launch_plain(s, x, k, y);
    sliding<<<dim3((s->W - s->K + 16) / 16, (s->H - s->K + 32) / 32, s->B * s->M), 32, n>>>(*s, x,
                                                                                            k, y);
    return 0;
}
/* K == 5: the window of x is held in 25 registers for M maps, so that loads from shared memory are
 * few */
template <int K_>
__global__ void window_regs(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float s_x[16 + K_ - 1][16 + K_ - 1];
    const int b = blockIdx.z, h0 = blockIdx.y * 16, w0 = blockIdx.x * 16, ty = threadIdx.y,
              tx = threadIdx.x;
    const int h = h0 + ty, w = w0 + tx;
    for (int m = 0; m < M; m++)
        if (h < H_out && w < W_out)
            Y(b, m, h, w) = 0;
    for (int c = 0; c < C; c++) {
        __syncthreads();
        for (int r = ty; r < 16 + K_ - 1; r += 16)
            for (int o = tx; o < 16 + K_ - 1; o += 16)
                s_x[r][o] = h0 + r < H && w0 + o < W ? X(b, c, h0 + r, w0 + o) : 0;
        __syncthreads();
        float win[K_ * K_];
#pragma unroll
        for (int i = 0; i < K_ * K_; i++)
            win[i] = s_x[ty + i / K_][tx + i % K_];
        for (int m = 0; m < M; m++) {
            float sum = 0;
#pragma unroll
            for (int i = 0; i < K_ * K_; i++)
                sum += win[i] * KK(m, c, 0, i);
            if (h < H_out && w < W_out)
                Y(b, m, h, w) += sum;
        }
    }
}
/* expect: pass */
int window_in_registers(ARGUMENTS)
{
    const dim3 g = tiles(s, 16, s->B), t(16, 16);
    switch (s->K) {
    case 1:
        window_regs<1><<<g, t>>>(*s, x, k, y);
        break;
    case 3:
        window_regs<3><<<g, t>>>(*s, x, k, y);
        break;
    case 5:
        window_regs<5><<<g, t>>>(*s, x, k, y);
        break;
    default:
        return launch_plain(s, x, k, y);
    }
    return 0;
}
/* a table of tile pointers; __noinline__ function pointers */
typedef void (*loader)(float *, const float *, int, int, int, int);
__device__ __noinline__ void load_rows(float *to, const float *from, int side, int W, int height,
                                       int width)
{
    for (int i = threadIdx.y * 16 + threadIdx.x; i < side * side; i += 256)
        to[i] = i / side < height && i % side < width ? from[i / side * W + i % side] : 0;
}
__device__ loader the_loader = load_rows;
__global__ void by_loader(struct conv_shape shape, const float *x, const float *k, float *y)
{
    TILE_PLACE;
    float sum = 0;
    (void)t;
    loader load = the_loader;
    for (int c = 0; c < C; c++) {
        load(s_x, &X(b, c, h0, w0), side, W, H - h0, W - w0);
        __syncthreads();
        for (int i = 0; i < K * K; i++)
            sum += TILED(i) * KK(m, c, 0, i);
        __syncthreads();
    }
    STORE(sum);
}
/* expect: pass */
SUBMISSION(loader_by_pointer, TILE(by_loader, TILE_FLOATS))
/* persistent blocks: loop over tiles */
__global__ void persistent(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s_x[];
    const int side = 16 + K - 1, t = threadIdx.x, across = (W_out + 15) / 16,
              down = (H_out + 15) / 16;
    const int n = across * down * M * B;
    for (int job = blockIdx.x; job < n; job += gridDim.x) {
        const int w0 = job % across * 16, h0 = job / across % down * 16,
                  m = job / across / down % M, b = job / across / down / M, h = h0 + t / 16,
                  w = w0 + t % 16;
        float sum = 0;
        for (int c = 0; c < C; c++) {
            __syncthreads();
            LOAD_TILE(c);
            __syncthreads();
            for (int i = 0; i < K * K; i++)
                sum += s_x[(t / 16 + i / K) * side + t % 16 + i % K] * KK(m, c, 0, i);
        }
        if (h < H_out && w < W_out)
            Y(b, m, h, w) = sum;
    }
}
/* expect: pass */
int persistent_blocks(ARGUMENTS)
{
    if (TILE_FLOATS * 4 > 48000)
        return launch_plain(s, x, k, y);
    persistent<<<264, 256, TILE_FLOATS * 4>>>(*s, x, k, y);
    return 0;
}
/* skips a tile of zeros: block-wide vote */
__global__ void skips(struct conv_shape shape, const float *x, const float *k, float *y)
{
    TILE_PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        bool any = false;
        __syncthreads();
        for (int i = t; i < side * side; i += 256) {
            const float v =
                h0 + i / side < H && w0 + i % side < W ? X(b, c, h0 + i / side, w0 + i % side) : 0;
            any |= v != 0;
            s_x[i] = v;
        }
        if (!__syncthreads_or(any))
            continue;
        for (int i = 0; i < K * K; i++)
            sum += TILED(i) * KK(m, c, 0, i);
    }
    STORE(sum);
}
/* expect: pass */
SUBMISSION(skips_empty_tiles, TILE(skips, TILE_FLOATS))
/* rows of the tile by memcpy of a length known only at run time */
__global__ void by_rows(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s_x[];
    const int b = blockIdx.z / M, m = blockIdx.z % M, side = 16 + K - 1;
    const int h0 = blockIdx.y * 16, w0 = blockIdx.x * 16, tx = threadIdx.x, ty = threadIdx.y;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        const int row = ty * 16 + tx;
        if (row < side && h0 + row < H)
            memcpy(s_x + row * side, &X(b, c, h0 + row, w0), min(side, W - w0) * sizeof(float));
        __syncthreads();
        if (h0 + ty < H_out && w0 + tx < W_out)
            for (int i = 0; i < K * K; i++)
                sum += s_x[(ty + i / K) * side + tx + i % K] * KK(m, c, 0, i);
        __syncthreads();
    }
    if (h0 + ty < H_out && w0 + tx < W_out)
        Y(b, m, h0 + ty, w0 + tx) = sum;
}
/* expect: pass */
SUBMISSION(rows_by_memcpy, TILE(by_rows, TILE_FLOATS))
/* one thread loads the whole tile */
__global__ void one_loads(struct conv_shape shape, const float *x, const float *k, float *y)
{
    TILE_PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        for (int i = 0; i < side * side && t == 0; i++)
            s_x[i] =
                h0 + i / side < H && w0 + i % side < W ? X(b, c, h0 + i / side, w0 + i % side) : 0;
        __syncthreads();
        for (int i = 0; i < K * K; i++)
            sum += TILED(i) * KK(m, c, 0, i);
        __syncthreads();
    }
    STORE(sum);
}
/* expect (long): pass */
SUBMISSION(tile_by_one_thread, TILE(one_loads, TILE_FLOATS))
/* 4 x 4 outputs in the registers of each of 16 threads */
__global__ void squares(struct conv_shape shape, const float *x, const float *k, float *y)
{
    TILE_PLACE;
    const int id = threadIdx.x, r0 = id / 4 * 4, c0 = id % 4 * 4;
    float sum[16] = {};
    (void)t, (void)h, (void)w;
    for (int c = 0; c < C; c++) {
        for (int i = id; i < side * side; i += 16)
            s_x[i] =
                h0 + i / side < H && w0 + i % side < W ? X(b, c, h0 + i / side, w0 + i % side) : 0;
        __syncthreads();
        for (int i = 0; i < K * K; i++)
            for (int j = 0; j < 16; j++)
                sum[j] += s_x[(r0 + j / 4 + i / K) * side + c0 + j % 4 + i % K] * KK(m, c, 0, i);
        __syncthreads();
    }
    for (int j = 0; j < 16; j++)
        if (h0 + r0 + j / 4 < H_out && w0 + c0 + j % 4 < W_out)
            Y(b, m, h0 + r0 + j / 4, w0 + c0 + j % 4) = sum[j];
}
/* expect (long): pass */
SUBMISSION_LAUNCH(squares_of_outputs,
                  if (TILE_FLOATS * 4 > 48 << 10) return launch_plain(s, x, k, y);
                  squares<<<tiles(s, 16, s->B * s->M), 16, TILE_FLOATS * 4>>>(*s, x, k, y))
/* each thread computes a whole tile, of its own map */
__global__ void map_each(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s_x[];
    const int side = 8 + K - 1, b = blockIdx.z, m = threadIdx.x;
    const int h0 = blockIdx.y * 8, w0 = blockIdx.x * 8;
    float sum[64] = {};
    for (int c = 0; c < C; c++) {
        __syncthreads();
        for (int i = m; i < side * side; i += M)
            s_x[i] =
                h0 + i / side < H && w0 + i % side < W ? X(b, c, h0 + i / side, w0 + i % side) : 0;
        __syncthreads();
        for (int i = 0; i < K * K; i++)
            for (int j = 0; j < 64; j++)
                sum[j] += s_x[(j / 8 + i / K) * side + j % 8 + i % K] * KK(m, c, 0, i);
    }
    for (int j = 0; j < 64; j++)
        if (h0 + j / 8 < H_out && w0 + j % 8 < W_out)
            Y(b, m, h0 + j / 8, w0 + j % 8) = sum[j];
}
/* expect (long): pass */
SUBMISSION_LAUNCH(thread_for_each_map,
                  if (s->M > 1024 || s->K > 90) return launch_plain(s, x, k, y);
                  map_each<<<tiles(s, 8, s->B), s->M, (8 + s->K - 1) * (8 + s->K - 1) * 4>>>(*s, x,
                                                                                             k, y))
