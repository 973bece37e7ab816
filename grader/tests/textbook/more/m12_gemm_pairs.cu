/* m6's fused product, 16 maps x 32 columns a block: two neighbouring columns are a half2, and the sums of 16
 * products are added to floats. */
#include "conv.h"
#include <cuda_fp16.h>

#define T 16

__device__ __forceinline__ float window(const conv_shape &s, const float *image, int r, int n)
{
    const int Wo = s.W - s.K + 1;
    return r < s.C * s.K * s.K && n < (s.H - s.K + 1) * Wo
               ? image[(r / (s.K * s.K) * s.H + n / Wo + r / s.K % s.K) * s.W + n % Wo + r % s.K]
               : 0.0f;
}

__global__ void fused(conv_shape s, const float *x, const float *k, float *y)
{
    __shared__ half A[T][T];
    __shared__ half2 B[T][T];
    const int R = s.C * s.K * s.K, plane = (s.H - s.K + 1) * (s.W - s.K + 1);
    const int tx = threadIdx.x, ty = threadIdx.y, m = blockIdx.y * T + ty;
    const int n = (blockIdx.x * T + tx) * 2;
    const float *image = x + (size_t)blockIdx.z * s.C * s.H * s.W;
    float2 total = {0.0f, 0.0f};
    for (int r0 = 0; r0 < R; r0 += T) {
        A[ty][tx] = __float2half(m < s.M && r0 + tx < R ? k[(size_t)m * R + r0 + tx] : 0.0f);
        B[ty][tx] =
            __floats2half2_rn(window(s, image, r0 + ty, n), window(s, image, r0 + ty, n + 1));
        __syncthreads();
        half2 part = __float2half2_rn(0.0f);
        for (int i = 0; i < T; i++)
            part = __hfma2(__half2half2(A[ty][i]), B[i][tx], part);
        total.x += __low2float(part);
        total.y += __high2float(part);
        __syncthreads();
    }
    float *out = y + ((size_t)blockIdx.z * s.M + m) * plane + n;
    if (m < s.M && n < plane)
        out[0] = total.x;
    if (m < s.M && n + 1 < plane)
        out[1] = total.y;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int plane = (s->H - s->K + 1) * (s->W - s->K + 1);
    fused<<<dim3((plane + 2 * T - 1) / (2 * T), (s->M + T - 1) / T, s->B), dim3(T, T)>>>(*s, x, k,
                                                                                         y);
    return cudaGetLastError() != cudaSuccess;
}
