/* Weights of maps m and m + 1 as half2 in constant memory, made on the host; if they do not fit,
 * pairs in global memory. Uses the operators of half2 instead of intrinsics. */
#include "conv.h"
#include <cuda_fp16.h>
#include <vector>

#define MOST 16384
__constant__ half2 ck[MOST];

template <bool CONST> __global__ void pairs(conv_shape s, const float *x, const half2 *gk, float *y)
{
    const int Ho = s.H - s.K + 1, Wo = s.W - s.K + 1;
    const int w = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y * blockDim.y + threadIdx.y;
    const int mp = (s.M + 1) / 2, b = blockIdx.z / mp, m = blockIdx.z % mp;
    if (w >= Wo || h >= Ho)
        return;
    float a0 = 0.f, a1 = 0.f;
    int at = m * s.C * s.K * s.K;
    for (int c = 0; c < s.C; ++c) {
        half2 acc(0.f, 0.f);
        for (int p = 0; p < s.K; ++p)
            for (int q = 0; q < s.K; ++q, ++at) {
                const half v = x[(((size_t)b * s.C + c) * s.H + h + p) * s.W + w + q];
                acc += half2(v, v) * (CONST ? ck[at] : gk[at]);
            }
        a0 += __low2float(acc);
        a1 += __high2float(acc);
    }
    y[(((size_t)b * s.M + 2 * m) * Ho + h) * Wo + w] = a0;
    if (2 * m + 1 < s.M)
        y[(((size_t)b * s.M + 2 * m + 1) * Ho + h) * Wo + w] = a1;
}

__global__ void make_pairs(conv_shape s, const float *k, half2 *out)
{
    const int n = s.C * s.K * s.K, i = blockIdx.x * blockDim.x + threadIdx.x, m = i / n * 2;
    if (m < s.M)
        out[i] = half2(k[m * n + i % n], m + 1 < s.M ? k[(m + 1) * n + i % n] : 0.f);
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int mp = (s->M + 1) / 2, n = mp * s->C * s->K * s->K;
    dim3 block(32, 8), grid((s->W - s->K + 32) / 32, (s->H - s->K + 8) / 8, s->B * mp);
    half2 *g = (half2 *)conv_workspace(n * sizeof(half2));
    if (!g)
        return 1;
    make_pairs<<<(n + 127) / 128, 128>>>(*s, k, g);
    if (n <= MOST) {
        if (cudaMemcpyToSymbol(ck, g, n * sizeof(half2), 0, cudaMemcpyDeviceToDevice) !=
            cudaSuccess)
            return 1;
        pairs<true><<<grid, block>>>(*s, x, NULL, y);
    } else
        pairs<false><<<grid, block>>>(*s, x, g, y);
    return cudaGetLastError() != cudaSuccess;
}
