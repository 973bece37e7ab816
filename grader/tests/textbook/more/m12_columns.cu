/* Pairs of neighbouring columns: the tile is stored twice as halves, the second time shifted by
 * one, so that every pair begins at an even index. Each thread computes two columns of one map. */
#include "conv.h"
#include <cuda_fp16.h>

#define TX    16
#define TY    8
#define WIDTH (2 * TX)

__global__ void columns(conv_shape s, const float *x, const float *k, float *y, int pitch)
{
    extern __shared__ __half2 sh[];
    const int Ho = s.H - s.K + 1, Wo = s.W - s.K + 1, rows = TY + s.K - 1;
    __half *even = (__half *)sh, *odd = even + rows * pitch;
    __half2 *kk = (__half2 *)(odd + rows * pitch);
    const int tx = threadIdx.x, ty = threadIdx.y, id = ty * TX + tx;
    const int nw = (Wo + WIDTH - 1) / WIDTH, h0 = blockIdx.x / nw * TY,
              w0 = blockIdx.x % nw * WIDTH;
    const int m = blockIdx.y, b = blockIdx.z;
    float2 total = {0, 0};
    for (int c = 0; c < s.C; c++) {
        for (int i = id; i < rows * pitch; i += TX * TY) {
            const int r = i / pitch, q = i % pitch;
            const float v = h0 + r < s.H && w0 + q < s.W
                                ? x[(((size_t)b * s.C + c) * s.H + h0 + r) * s.W + w0 + q]
                                : 0.f;
            even[i] = __float2half(v);
            if (q > 0)
                odd[i - 1] = even[i];
            if (q == pitch - 1)
                odd[i] = __float2half(0.f);
        }
        for (int i = id; i < s.K * s.K; i += TX * TY)
            kk[i] = __float2half2_rn(k[((size_t)m * s.C + c) * s.K * s.K + i]);
        __syncthreads();
        __half2 a = __float2half2_rn(0.f);
        for (int p = 0; p < s.K; p++)
            for (int q = 0; q < s.K; q++) {
                const __half *row = (q & 1 ? odd : even) + (ty + p) * pitch + 2 * tx + (q & ~1);
                a = __hfma2(*(const __half2 *)row, kk[p * s.K + q], a);
            }
        const float2 f = __half22float2(a);
        total.x += f.x;
        total.y += f.y;
        __syncthreads();
    }
    const int h = h0 + ty, w = w0 + 2 * tx;
    if (h < Ho) {
        float *row = y + (((size_t)b * s.M + m) * Ho + h) * Wo;
        if (w < Wo)
            row[w] = total.x;
        if (w + 1 < Wo)
            row[w + 1] = total.y;
    }
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int Ho = s->H - s->K + 1, Wo = s->W - s->K + 1, pitch = (WIDTH + s->K) / 2 * 2;
    const size_t bytes =
        2 * (TY + s->K - 1) * pitch * sizeof(__half) + s->K * s->K * sizeof(__half2);
    if (bytes > 48 * 1024 &&
        cudaFuncSetAttribute(columns, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes))
        return 1;
    columns<<<dim3((Ho + TY - 1) / TY * ((Wo + WIDTH - 1) / WIDTH), s->M, s->B), dim3(TX, TY),
              bytes>>>(*s, x, k, y, pitch);
    return cudaGetLastError() != cudaSuccess;
}
