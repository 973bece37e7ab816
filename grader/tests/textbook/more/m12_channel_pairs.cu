/* Pairs of input maps: a product of half2 serves two channels at once, and the two halves of the sum are added
 * in float after each row of the filter. x is put in pairs first; an odd last channel gets a 0 beside it. */
#include "conv.h"
#include <cuda_fp16.h>

__global__ void pair_up(const float *from, __half2 *to, int outer, int C, int inner)
{
    const int pairs = (C + 1) / 2, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outer * pairs * inner)
        return;
    const int at = i % inner, c = i / inner % pairs * 2, o = i / inner / pairs;
    const float *first = from + ((size_t)o * C + c) * inner + at;
    to[i] = __floats2half2_rn(first[0], c + 1 < C ? first[inner] : 0.f);
}

__global__ void conv_pairs(conv_shape s, const __half2 *x, const __half2 *k, float *y)
{
    const int Ho = s.H - s.K + 1, Wo = s.W - s.K + 1, pairs = (s.C + 1) / 2;
    const int w = blockIdx.x * 32 + threadIdx.x, h = blockIdx.y * 4 + threadIdx.y;
    const int m = blockIdx.z % s.M, b = blockIdx.z / s.M;
    if (h >= Ho || w >= Wo)
        return;
    float sum = 0.f;
    for (int c = 0; c < pairs; c++)
        for (int p = 0; p < s.K; p++) {
            const __half2 *row = x + ((size_t)(b * pairs + c) * s.H + h + p) * s.W + w;
            const __half2 *weight = k + ((size_t)(m * pairs + c) * s.K + p) * s.K;
            __half2 both = __float2half2_rn(0.f);
            for (int q = 0; q < s.K; q++)
                both = __hfma2(row[q], weight[q], both);
            sum += __low2float(both) + __high2float(both);
        }
    y[(((size_t)b * s.M + m) * Ho + h) * Wo + w] = sum;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int pairs = (s->C + 1) / 2, nx = s->B * pairs * s->H * s->W;
    const int nk = s->M * pairs * s->K * s->K;
    __half2 *x2 = (__half2 *)conv_workspace(((size_t)nx + nk) * sizeof(__half2));
    if (!x2)
        return 1;
    pair_up<<<(nx + 255) / 256, 256>>>(x, x2, s->B, s->C, s->H * s->W);
    pair_up<<<(nk + 255) / 256, 256>>>(k, x2 + nx, s->M, s->C, s->K * s->K);
    for (int b = 0, some; b < s->B; b += some) {
        some = 65535 / s->M < s->B - b ? 65535 / s->M : s->B - b;
        conv_pairs<<<dim3((s->W - s->K + 32) / 32, (s->H - s->K + 4) / 4, some * s->M),
                     dim3(32, 4)>>>(*s, x2 + (size_t)b * pairs * s->H * s->W, x2 + nx,
                                    y + (size_t)b * s->M * (s->H - s->K + 1) * (s->W - s->K + 1));
    }
    return cudaGetLastError() != cudaSuccess;
}
