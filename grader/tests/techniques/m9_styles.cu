/* More read-only loads and unrolled loops, for m9. */
#include "common.cuh"
#define SWITCH(T)                                                                                  \
    switch (s->K) {                                                                                \
    case 1:                                                                                        \
        return LAUNCH(T<1>);                                                                       \
    case 2:                                                                                        \
        return LAUNCH(T<2>);                                                                       \
    case 3:                                                                                        \
        return LAUNCH(T<3>);                                                                       \
    case 4:                                                                                        \
        return LAUNCH(T<4>);                                                                       \
    case 5:                                                                                        \
        return LAUNCH(T<5>);                                                                       \
    case 7:                                                                                        \
        return LAUNCH(T<7>);                                                                       \
    default:                                                                                       \
        return launch_plain(s, x, k, y);                                                           \
    }
template <int K_> struct taps {
    template <typename F> static __device__ __forceinline__ float sum(F f)
    {
        return taps<K_ - 1>::sum(f) + f(K_ - 1);
    }
};
template <> struct taps<0> {
    template <typename F> static __device__ __forceinline__ float sum(F)
    {
        return 0;
    }
};
template <int K_>
__global__ void meta(struct conv_shape shape, const float *__restrict__ x,
                     const float *__restrict__ k, float *__restrict__ y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        const float *xp = &X(b, c, h, w), *kp = &KK(m, c, 0, 0);
        sum += taps<K_ * K_>::sum(
            [=](int i) { return __ldg(xp + i / K_ * W + i % K_) * __ldg(kp + i); });
    }
    Y(b, m, h, w) = sum;
}
/* expect: pass */
int template_recursion(ARGUMENTS)
{
    SWITCH(meta)
}
/* inline PTX loads nc, v1 */
static __device__ __forceinline__ float nc(const float *p)
{
    float v;
    asm("ld.global.nc.L1::evict_last.f32 %0, [%1];" : "=f"(v) : "l"(p));
    return v;
}
template <int K_>
__global__ void in_ptx(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int i = 0; i < K_ * K_; i++)
            sum += nc(&X(b, c, h + i / K_, w + i % K_)) * nc(&KK(m, c, 0, i));
    Y(b, m, h, w) = sum;
}
/* expect: pass */
int ptx_loads(ARGUMENTS)
{
    SWITCH(in_ptx)
}
/* texture for x */
template <int K_>
__global__ void tex(struct conv_shape shape, cudaTextureObject_t t, const float *__restrict__ k,
                    float *__restrict__ y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        const int at = ((b * C + c) * H + h) * W + w;
#pragma unroll
        for (int i = 0; i < K_ * K_; i++)
            sum += tex1Dfetch<float>(t, at + i / K_ * W + i % K_) * KK(m, c, 0, i);
    }
    Y(b, m, h, w) = sum;
}
/* expect: pass */
int texture_loads(ARGUMENTS)
{
    if (s->K != 5)
        return launch_plain(s, x, k, y);
    const cudaTextureObject_t t = texture_of(x, x_floats(s));
    return LAUNCH_WITH(tex<5>, *s, t, k, y) || destroy_texture(t);
}
/* shared tile filled by read-only loads, unrolled taps */
template <int K_>
__global__ void tiled(struct conv_shape shape, const float *__restrict__ x,
                      const float *__restrict__ k, float *__restrict__ y)
{
    SIZES;
    __shared__ float s_x[15 + K_][15 + K_];
    const int b = blockIdx.z / M, m = blockIdx.z % M, ty = threadIdx.y, tx = threadIdx.x,
              h = blockIdx.y * 16 + ty, w = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        for (int r = ty; r < 15 + K_; r += 16)
            for (int o = tx; o < 15 + K_; o += 16)
                s_x[r][o] = blockIdx.y * 16 + r < H && blockIdx.x * 16 + o < W
                                ? __ldg(&X(b, c, blockIdx.y * 16 + r, blockIdx.x * 16 + o))
                                : 0;
        __syncthreads();
#pragma unroll
        for (int p = 0; p < K_; p++)
#pragma unroll
            for (int q = 0; q < K_; q++)
                sum += s_x[ty + p][tx + q] * KK(m, c, p, q);
        __syncthreads();
    }
    if (h < H_out && w < W_out)
        Y(b, m, h, w) = sum;
}
/* expect: pass */
int tile_and_unroll(ARGUMENTS)
{
    SWITCH(tiled)
}
/* register blocking 4 maps x 2 columns, unroll K */
template <int K_>
__global__ void blocked(struct conv_shape shape, const float *__restrict__ x,
                        const float *__restrict__ k, float *__restrict__ y)
{
    SIZES;
    const int g = (M + 3) / 4, b = blockIdx.z / g, m0 = blockIdx.z % g * 4,
              h = blockIdx.y * 16 + threadIdx.y, w = (blockIdx.x * 16 + threadIdx.x) * 2;
    if (h >= H_out || w >= W_out)
        return;
    float s0[4] = {}, s1[4] = {};
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int p = 0; p < K_; p++) {
            float v[K_ + 1];
#pragma unroll
            for (int q = 0; q <= K_; q++)
                v[q] = w + q < W ? X(b, c, h + p, w + q) : 0;
#pragma unroll
            for (int q = 0; q < K_; q++)
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    const float f = KK(min(m0 + j, M - 1), c, p, q);
                    s0[j] = fmaf(v[q], f, s0[j]);
                    s1[j] = fmaf(v[q + 1], f, s1[j]);
                }
        }
    for (int j = 0; j < 4; j++)
        if (m0 + j < M) {
            Y(b, m0 + j, h, w) = s0[j];
            if (w + 1 < W_out)
                Y(b, m0 + j, h, w + 1) = s1[j];
        }
}
/* expect: pass */
int register_blocking(ARGUMENTS)
{
    if (s->K != 5 && s->K != 3)
        return launch_plain(s, x, k, y);
    const dim3 g((s->W - s->K + 32) / 32, (s->H - s->K + 16) / 16, (s->M + 3) / 4 * s->B);
    if (s->K == 5)
        blocked<5><<<g, dim3(16, 16)>>>(*s, x, k, y);
    else
        blocked<3><<<g, dim3(16, 16)>>>(*s, x, k, y);
    return 0;
}
/* constant weights and read-only x unrolled */
__constant__ float c_k[16000];
template <int K_>
__global__ void constant(struct conv_shape shape, const float *__restrict__ x, const float *,
                         float *__restrict__ y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int i = 0; i < K_ * K_; i++)
            sum += X(b, c, h + i / K_, w + i % K_) * c_k[(m * C + c) * K_ * K_ + i];
    Y(b, m, h, w) = sum;
}
/* expect: pass */
int constant_and_restrict(ARGUMENTS)
{
    const size_t n = k_floats(s);
    if (n > 16000)
        return launch_plain(s, x, k, y);
    cudaMemcpyToSymbol(c_k, k, n * 4, 0, cudaMemcpyDeviceToDevice);
    SWITCH(constant)
}
/* double accumulators, unrolled; read-only through a restrict member of a struct */
template <int K_>
__global__ void doubles(struct conv_shape shape, const float *__restrict__ x,
                        const float *__restrict__ k, float *__restrict__ y)
{
    PLACE;
    double sum = 0;
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int i = 0; i < K_ * K_; i++)
            sum += (double)X(b, c, h + i / K_, w + i % K_) * (double)KK(m, c, 0, i);
    Y(b, m, h, w) = (float)sum;
}
/* expect: pass */
int double_sums(ARGUMENTS)
{
    SWITCH(doubles)
}
/* bounds checks inside: predicated loads */
template <int K_>
__global__ void checked(struct conv_shape shape, const float *__restrict__ x,
                        const float *__restrict__ k, float *__restrict__ y)
{
    SIZES;
    const int b = blockIdx.z / M, m = blockIdx.z % M, h = blockIdx.y * 16 + threadIdx.y,
              w = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int i = 0; i < K_ * K_; i++)
            if (h + i / K_ < H && w + i % K_ < W)
                sum += X(b, c, h + i / K_, w + i % K_) * KK(m, c, 0, i);
    if (h < H_out && w < W_out)
        Y(b, m, h, w) = sum;
}
/* expect: pass */
int checks_inside(ARGUMENTS)
{
    SWITCH(checked)
}
/* skips zeros of x, unrolled: branches between the taps */
template <int K_>
__global__ void skipping(struct conv_shape shape, const float *__restrict__ x,
                         const float *__restrict__ k, float *__restrict__ y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int p = 0; p < K_; p++) {
            const float *r = &X(b, c, h + p, w);
            bool any = false;
#pragma unroll
            for (int q = 0; q < K_; q++)
                any |= r[q] != 0;
            if (!any)
                continue;
#pragma unroll
            for (int q = 0; q < K_; q++)
                sum += r[q] * KK(m, c, p, q);
        }
    Y(b, m, h, w) = sum;
}
/* expect: pass */
int skips_zero_rows(ARGUMENTS)
{
    SWITCH(skipping)
}
