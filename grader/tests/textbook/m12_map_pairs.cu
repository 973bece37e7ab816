// Pairs of output maps: both halves of a pair of x are the same; the weights of maps m and m + 1
// are a pair. Separate kernels convert x and k to halves in the workspace.
#include "conv.h"
#include <cuda_fp16.h>

typedef __half half_t;

__global__ void to_half(const float *from, half_t *to, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        to[i] = __float2half(from[i]);
}

// pairs[m / 2][tap]; for an odd last map the second half is 0
__global__ void pair_weights(const float *k, __half2 *pairs, int M, int taps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, m = i / taps * 2, t = i % taps;
    if (m < M)
        pairs[i] = __floats2half2_rn(k[m * taps + t], m + 1 < M ? k[(m + 1) * taps + t] : 0.0f);
}

__global__ void conv(struct conv_shape s, const half_t *x, const __half2 *pairs, float *y)
{
    const int Ho = s.H - s.K + 1, Wo = s.W - s.K + 1;
    const int w = blockIdx.x * 16 + threadIdx.x, h = blockIdx.y * 16 + threadIdx.y;
    const int half_maps = (s.M + 1) / 2, b = blockIdx.z / half_maps, m = blockIdx.z % half_maps * 2;
    if (w >= Wo || h >= Ho)
        return;
    const __half2 *weight = pairs + (size_t)m / 2 * s.C * s.K * s.K;
    float2 total = make_float2(0, 0);
    for (int c = 0; c < s.C; c++) {
        __half2 acc = __float2half2_rn(0.0f);
        for (int p = 0; p < s.K; p++) {
            const half_t *row = x + (((size_t)b * s.C + c) * s.H + h + p) * s.W + w;
            for (int q = 0; q < s.K; q++)
                acc = __hfma2(__half2half2(row[q]), *weight++, acc);
        }
        const float2 f = __half22float2(acc);
        total.x += f.x;
        total.y += f.y;
    }
    float *out = y + (((size_t)b * s.M + m) * Ho + h) * Wo + w;
    *out = total.x;
    if (m + 1 < s.M)
        out[(size_t)Ho * Wo] = total.y;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const size_t nx = (size_t)s->B * s->C * s->H * s->W;
    const int taps = s->C * s->K * s->K, pairs = (s->M + 1) / 2 * taps;
    __half2 *k2 = (__half2 *)conv_workspace(pairs * sizeof(__half2) + nx * sizeof(half_t));
    if (k2 == NULL)
        return 1;
    half_t *xh = (half_t *)(k2 + pairs);
    to_half<<<1024, 256>>>(x, xh, nx);
    pair_weights<<<(pairs + 255) / 256, 256>>>(k, k2, s->M, taps);
    const dim3 grid((s->W - s->K + 16) / 16, (s->H - s->K + 16) / 16, s->B * ((s->M + 1) / 2));
    conv<<<grid, dim3(16, 16)>>>(*s, xh, k2, y);
    return cudaGetLastError() != cudaSuccess;
}
