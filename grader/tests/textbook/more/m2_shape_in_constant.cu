/* The shape in constant memory; blocks of 8 x 8 x 4 (columns, rows, maps); loops run backwards over pointers. */
#include "conv.h"

__constant__ struct conv_shape S;
#define HO (S.H - S.K + 1)
#define WO (S.W - S.K + 1)

static __device__ unsigned div_up(unsigned a, unsigned b)
{
    return (a + b - 1u) / b;
}

__global__ void conv3d(const float *const x, const float *const k, float *const y)
{
    const unsigned w = blockIdx.x * 8u + threadIdx.x, h = blockIdx.y * 8u + threadIdx.y;
    const unsigned groups = div_up(S.M, 4u), m = blockIdx.z % groups * 4u + threadIdx.z,
                   b = blockIdx.z / groups;
    if (w < WO && h < HO && m < S.M) {
        float v = 0.0f;
        int c = S.C;
        while (c--) {
            const float *px =
                x + (((size_t)b * S.C + c) * S.H + h) * S.W + w + (S.K - 1) * S.W + S.K - 1;
            const float *pk = k + ((size_t)m * S.C + c) * S.K * S.K + S.K * S.K - 1;
            for (int p = S.K; p > 0; p--, px -= S.W - S.K)
                for (int q = S.K; q > 0; q--)
                    v += *px-- * *pk--;
        }
        y[(((size_t)b * S.M + m) * HO + h) * WO + w] = v;
    }
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    if (cudaMemcpyToSymbol(S, s, sizeof *s) != cudaSuccess)
        return 1;
    dim3 threads(8, 8, 4),
        blocks((s->W - s->K + 8) / 8, (s->H - s->K + 8) / 8, s->B * ((s->M + 3) / 4));
    conv3d<<<blocks, threads>>>(x, k, y);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
