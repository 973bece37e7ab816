/* m4 with registers: weights in constant memory, the tile in shared memory; a thread computes 4
 * rows of one column in two maps, with a column of x in registers. */
#include "conv.h"

#define TW   32
#define TH   16
#define ROWS 4

__constant__ float kc[16384];

template <bool C_MEM>
__global__ void rows_of_four(conv_shape s, const float *x, const float *k, float *y)
{
    extern __shared__ float tile[];
    const int Ho = s.H - s.K + 1, Wo = s.W - s.K + 1, across = (Wo - 1) / TW + 1,
              wide = TW + s.K - 1, high = TH + s.K - 1;
    const int h0 = blockIdx.x / across * TH, w0 = blockIdx.x % across * TW, tx = threadIdx.x,
              ty = threadIdx.y * ROWS;
    const int m = blockIdx.y * 2, m1 = m + 1 < s.M ? m + 1 : m;
    float a[ROWS] = {}, b[ROWS] = {};
    const float *w = C_MEM ? kc : k;
    for (int c = 0; c < s.C; c++) {
        const float *map = x + ((size_t)blockIdx.z * s.C + c) * s.H * s.W;
        for (int i = threadIdx.y; i < high; i += TH / ROWS)
            for (int j = tx; j < wide; j += TW)
                tile[i * wide + j] = map[min(h0 + i, s.H - 1) * s.W + min(w0 + j, s.W - 1)];
        __syncthreads();
        for (int q = 0; q < s.K; q++) {
            float v[ROWS];
            for (int i = 0; i < ROWS - 1; i++)
                v[i] = tile[(ty + i) * wide + tx + q];
            for (int p = 0; p < s.K; p++) {
                v[ROWS - 1] = tile[(ty + ROWS - 1 + p) * wide + tx + q];
                const float f = w[((m * s.C + c) * s.K + p) * s.K + q],
                            g = w[((m1 * s.C + c) * s.K + p) * s.K + q];
#pragma unroll
                for (int i = 0; i < ROWS; i++) {
                    a[i] += v[i] * f;
                    b[i] += v[i] * g;
                }
#pragma unroll
                for (int i = 0; i < ROWS - 1; i++)
                    v[i] = v[i + 1];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < ROWS; i++)
        if (h0 + ty + i < Ho && w0 + tx < Wo) {
            const size_t to = (size_t)(h0 + ty + i) * Wo + w0 + tx, plane = (size_t)Ho * Wo;
            y[((size_t)blockIdx.z * s.M + m) * plane + to] = a[i];
            if (m1 > m)
                y[((size_t)blockIdx.z * s.M + m1) * plane + to] = b[i];
        }
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const size_t n = (size_t)s->M * s->C * s->K * s->K,
                 bytes = (TW + s->K - 1) * (TH + s->K - 1) * sizeof(float);
    const dim3 grid((s->H - s->K + TH) / TH * ((s->W - s->K + TW) / TW), (s->M + 1) / 2, s->B),
        block(TW, TH / ROWS);
    cudaFuncSetAttribute(rows_of_four<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);
    cudaFuncSetAttribute(rows_of_four<false>, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);
    if (n <= 16384) {
        cudaMemcpyToSymbolAsync(kc, k, n * 4, 0, cudaMemcpyDeviceToDevice, 0);
        rows_of_four<true><<<grid, block, bytes>>>(*s, x, k, y);
    } else
        rows_of_four<false><<<grid, block, bytes>>>(*s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
