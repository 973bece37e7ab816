/* Fused: a step takes a whole input map if K*K fits into the tile (25 of 32 rows), so that the loop
 * has no division; the rows' offsets are in shared memory. The tile is a template parameter. */
#include "conv.h"

template <int BM, int BN>
__global__ void by_channel(conv_shape s, const float *__restrict__ x, const float *__restrict__ k,
                           float *__restrict__ y)
{
    constexpr int D = 64;
    __shared__ float ks[BM][D + 1], xs[D][BN];
    __shared__ int offset[D];
    const int Wo = s.W - s.K + 1, P = (s.H - s.K + 1) * Wo, KK = s.K * s.K,
              t = threadIdx.x + threadIdx.y * BN;
    const int n = blockIdx.x * BN + threadIdx.x, m = blockIdx.y * BM + threadIdx.y;
    const float *image =
        x + (size_t)blockIdx.z * s.C * s.H * s.W + (n < P ? n / Wo * s.W + n % Wo : 0);
    float sum = 0;
    for (int part = 0; part < KK; part += D) {
        const int rows = KK - part < D ? KK - part : D;
        __syncthreads();
        for (int i = t; i < rows; i += BM * BN)
            offset[i] = (part + i) / s.K * s.W + (part + i) % s.K;
        for (int c = 0; c < s.C; c++, image += s.H * s.W) {
            __syncthreads();
            for (int i = threadIdx.y; i < rows; i += BM)
                xs[i][threadIdx.x] = n < P ? image[offset[i]] : 0.f;
            for (int i = threadIdx.x; i < rows; i += BN)
                ks[threadIdx.y][i] = m < s.M ? k[((size_t)m * s.C + c) * KK + part + i] : 0.f;
            __syncthreads();
            for (int i = 0; i < rows; i++)
                sum += ks[threadIdx.y][i] * xs[i][threadIdx.x];
        }
        image -= s.C * s.H * s.W;
    }
    if (n < P && m < s.M)
        y[((size_t)blockIdx.z * s.M + m) * P + n] = sum;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int P = (s->H - s->K + 1) * (s->W - s->K + 1);
    if (s->M < 8)
        by_channel<4, 64><<<dim3((P + 63) / 64, (s->M + 3) / 4, s->B), dim3(64, 4)>>>(*s, x, k, y);
    else
        by_channel<12, 32>
            <<<dim3((P + 31) / 32, (s->M + 11) / 12, s->B), dim3(32, 12)>>>(*s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
