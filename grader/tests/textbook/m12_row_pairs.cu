/* Pairs along the filter's rows, as in a dot product: the two halves of a sum are added at the end.
 * A tile of x is in shared memory as halves. */
#include "conv.h"
#include <cuda_fp16.h>

#define T 16

__global__ void conv_dot(struct conv_shape s, const float *x, const float *k, float *y)
{
    extern __shared__ __half tile[];
    int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1, side = T + s.K - 1;
    int b = blockIdx.z / s.M, m = blockIdx.z % s.M, h0 = blockIdx.y * T, w0 = blockIdx.x * T;
    int h = h0 + threadIdx.y, w = w0 + threadIdx.x;
    float y_here = 0;
    for (int c = 0; c < s.C; c++) {
        const float *map = x + ((size_t)b * s.C + c) * s.H * s.W;
        for (int i = threadIdx.y; i < side; i += T)
            for (int j = threadIdx.x; j < side; j += T)
                tile[i * side + j] =
                    __float2half(h0 + i < s.H && w0 + j < s.W ? map[(h0 + i) * s.W + w0 + j] : 0.f);
        __syncthreads();
        const float *filter = k + ((size_t)m * s.C + c) * s.K * s.K;
        __half2 dot = __float2half2_rn(0.f);
        for (int p = 0; p < s.K; p++) {
            const __half *row = tile + (threadIdx.y + p) * side + threadIdx.x;
            const float *taps = filter + p * s.K;
            for (int q = 0; q + 1 < s.K; q += 2)
                dot = __hfma2(__halves2half2(row[q], row[q + 1]),
                              __floats2half2_rn(taps[q], taps[q + 1]), dot);
            if (s.K % 2) /* the last one, paired with zero */
                dot = __hfma2(__halves2half2(row[s.K - 1], __float2half(0.f)),
                              __floats2half2_rn(taps[s.K - 1], 0.f), dot);
        }
        y_here += __low2float(dot) + __high2float(dot);
        __syncthreads();
    }
    if (h < H_out && w < W_out)
        y[(((size_t)b * s.M + m) * H_out + h) * W_out + w] = y_here;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    int side = T + s->K - 1;
    dim3 grid((s->W - s->K + T) / T, (s->H - s->K + T) / T, s->B * s->M);
    conv_dot<<<grid, dim3(T, T), side * side * sizeof(__half)>>>(*s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
