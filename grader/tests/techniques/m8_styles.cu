/* More choices by layer, for m8. */
#include "m3.cuh"
/* different kernels: shared tile for C>1, registers for C==1 */
__global__ void tile(struct conv_shape shape, const float *x, const float *k, float *y)
{
    TILE_PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        LOAD_TILE(c);
        __syncthreads();
        for (int i = 0; i < K * K; i++)
            sum += TILED(i) * KK(m, c, 0, i);
        __syncthreads();
    }
    STORE(sum);
}
template <int MAPS>
__global__ void maps(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int groups = (M + MAPS - 1) / MAPS, b = blockIdx.z / groups,
              m0 = blockIdx.z % groups * MAPS, h = blockIdx.y * 16 + threadIdx.y,
              w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    float sum[MAPS] = {};
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++) {
            const float v = X(b, c, h + i / K, w + i % K);
            for (int j = 0; j < MAPS; j++)
                sum[j] += v * KK(min(m0 + j, M - 1), c, 0, i);
        }
    for (int j = 0; j < MAPS; j++)
        if (m0 + j < M)
            Y(b, m0 + j, h, w) = sum[j];
}
static int t_tile(ARGUMENTS)
{
    return TILE(tile, TILE_FLOATS);
}
template <int N> static int t_maps(ARGUMENTS)
{
    maps<N><<<tiles(s, 16, (s->M + N - 1) / N * s->B), dim3(16, 16)>>>(*s, x, k, y);
    return failed();
}
typedef int (*how)(ARGUMENTS);
static const struct {
    int depth;
    how f;
} plans[] = {{1, t_maps<2>}, {30, t_maps<4>}, {1000, t_tile}, {1 << 30, t_maps<8>}};
/* expect: pass */
int plan_table(ARGUMENTS)
{
    for (auto &p : plans)
        if (s->C * s->K * s->K <= p.depth)
            return p.f(s, x, k, y);
    return 1;
}
/* kernel pointers with cudaLaunchKernel */
/* expect: pass */
int launch_by_pointer(ARGUMENTS)
{
    struct conv_shape shape = *s;
    void *a[] = {&shape, &x, &k, &y};
    const int n = s->C > 2 ? 6 : 3;
    const void *f = n == 6 ? (const void *)maps<6> : (const void *)maps<3>;
    return cudaLaunchKernel(f, tiles(s, 16, (s->M + n - 1) / n * s->B), dim3(16, 16), a, 0, 0) !=
           cudaSuccess;
}
/* the tile's side is a run-time block size */
__global__ void dynamic(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s_x[];
    const int T = blockDim.x, R = blockDim.y, wide = T + K - 1, tall = R + K - 1,
              b = blockIdx.z / M, m = blockIdx.z % M, h0 = blockIdx.y * R, w0 = blockIdx.x * T,
              t = threadIdx.y * T + threadIdx.x, h = h0 + threadIdx.y, w = w0 + threadIdx.x;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        for (int i = t; i < tall * wide; i += T * R)
            s_x[i] =
                h0 + i / wide < H && w0 + i % wide < W ? X(b, c, h0 + i / wide, w0 + i % wide) : 0;
        __syncthreads();
        for (int i = 0; i < K * K; i++)
            sum += s_x[(threadIdx.y + i / K) * wide + threadIdx.x + i % K] * KK(m, c, 0, i);
        __syncthreads();
    }
    STORE(sum);
}
/* expect: pass */
int dynamic_tile(ARGUMENTS)
{
    const dim3 t = s->W - s->K + 1 > 40 ? dim3(32, 8) : dim3(16, 16);
    if ((t.x + s->K - 1) * (t.y + s->K - 1) * 4 > 48000)
        return launch_plain(s, x, k, y);
    dynamic<<<dim3((s->W - s->K + t.x) / t.x, (s->H - s->K + t.y) / t.y, s->B * s->M), t,
              (t.x + s->K - 1) * (t.y + s->K - 1) * 4>>>(*s, x, k, y);
    return failed();
}
/* unrolled for K=5 C=1 fully, generic otherwise */
template <int C_, int K_>
__global__ void fixed(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0;
#pragma unroll
    for (int c = 0; c < C_; c++)
#pragma unroll
        for (int i = 0; i < K_ * K_; i++)
            sum += X(b, c, h + i / K_, w + i % K_) * KK(m, c, 0, i);
    Y(b, m, h, w) = sum;
}
/* expect: pass */
int fully_unrolled(ARGUMENTS)
{
    if (s->C == 1 && s->K == 5)
        fixed<1, 5><<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y);
    else
        return launch_plain(s, x, k, y);
    return failed();
}
/* split by channels with atomics for deep, direct for shallow */
__global__ void slices(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int c = blockIdx.y, b = blockIdx.z / M, m = blockIdx.z % M;
    for (int j = blockIdx.x * 128 + threadIdx.x; j < H_out * W_out; j += gridDim.x * 128) {
        const int h = j / W_out, w = j % W_out;
        const float sum = channel_at(shape, x, k, b, m, c, h, w);
        atomicAdd(&Y(b, m, h, w), sum);
    }
}
/* expect: pass */
int atomics_when_deep(ARGUMENTS)
{
    if (s->C < 4)
        return launch_plain(s, x, k, y);
    cudaMemsetAsync(y, 0, y_floats(s) * 4);
    slices<<<dim3(4, s->C, s->B * s->M), 128>>>(*s, x, k, y);
    return failed();
}
