/* The first layer by m4 (constant weights), the second by m6 (fused product), selected by a struct
 * of launch settings. */
#include "conv.h"

__constant__ float wc[4096];

__global__ void by_constants(conv_shape s, const float *x, float *y)
{
    const int Ho = s.H - s.K + 1, Wo = s.W - s.K + 1, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= Ho * Wo)
        return;
    for (int m = 0; m < s.M; m++) {
        float v = 0;
        for (int p = 0; p < s.K; p++)
            for (int q = 0; q < s.K; q++)
                v += x[((size_t)blockIdx.y * s.H + i / Wo + p) * s.W + i % Wo + q] *
                     wc[(m * s.K + p) * s.K + q];
        y[((size_t)blockIdx.y * s.M + m) * Ho * Wo + i] = v;
    }
}

template <int TM, int TN>
__global__ void product(conv_shape s, const float *x, const float *k, float *y)
{
    __shared__ float a[TM][32], b[32][TN];
    const int Wo = s.W - s.K + 1, P = (s.H - s.K + 1) * Wo, R = s.C * s.K * s.K,
              m = blockIdx.y * TM + threadIdx.y, n = blockIdx.x * TN + threadIdx.x;
    float v = 0;
    for (int r0 = 0; r0 < R; r0 += 32) {
        for (int i = threadIdx.x; i < 32; i += TN)
            a[threadIdx.y][i] = m < s.M && r0 + i < R ? k[m * R + r0 + i] : 0;
        for (int i = threadIdx.y; i < 32; i += TM) {
            const int r = r0 + i;
            b[i][threadIdx.x] = n < P && r < R
                                    ? x[(((size_t)blockIdx.z * s.C + r / (s.K * s.K)) * s.H +
                                         n / Wo + r / s.K % s.K) *
                                            s.W +
                                        n % Wo + r % s.K]
                                    : 0;
        }
        __syncthreads();
        for (int i = 0; i < 32; i++)
            v += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    if (m < s.M && n < P)
        y[((size_t)blockIdx.z * s.M + m) * P + n] = v;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int P = (s->H - s->K + 1) * (s->W - s->K + 1);
    if (s->C == 1 && s->M * s->K * s->K <= 4096 && s->B < 65536) {
        cudaMemcpyToSymbol(wc, k, sizeof(float) * s->M * s->K * s->K);
        by_constants<<<dim3((P + 127) / 128, s->B), 128>>>(*s, x, y);
    } else if (s->M > 16)
        product<24, 32><<<dim3((P + 31) / 32, (s->M + 23) / 24, s->B), dim3(32, 24)>>>(*s, x, k, y);
    else
        product<8, 32><<<dim3((P + 31) / 32, (s->M + 7) / 8, s->B), dim3(32, 8)>>>(*s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
