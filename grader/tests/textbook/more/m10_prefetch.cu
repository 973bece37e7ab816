/* The fused product in blocks of 32 maps x 64 columns. While a tile is multiplied, the next one is already on
 * its way into registers; a thread owns 4 x 4 outputs and reads its operands as float4. */
#include "conv.h"

constexpr int BM = 32, BN = 64, BK = 8, THREADS = 128;

struct Source {
    conv_shape s;
    const float *x, *k;
    int rows, columns;

    __device__ float weight(int m, int r) const
    {
        return m < s.M && r < rows ? k[(size_t)m * rows + r] : 0.f;
    }
    __device__ float window(int r, int n) const
    {
        if (r >= rows || n >= columns)
            return 0.f;
        const int Wo = s.W - s.K + 1, Ho = s.H - s.K + 1;
        const int c = r / (s.K * s.K), p = r % (s.K * s.K) / s.K, q = r % s.K;
        const int b = n / (Ho * Wo), h = n % (Ho * Wo) / Wo, w = n % Wo;
        return x[(((size_t)b * s.C + c) * s.H + h + p) * s.W + w + q];
    }
};

__global__ void product(Source from, float *y)
{
    __shared__ __align__(16) float As[BK][BM], Bs[BK][BN];
    const int t = threadIdx.x, row = t / 16 * 4, column = t % 16 * 4;
    const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    float next_a[2], next_b[4], acc[4][4] = {};
    auto fetch = [&](int r0) {
        for (int i = 0; i < 2; i++)
            next_a[i] = from.weight(m0 + (t + i * THREADS) % BM, r0 + (t + i * THREADS) / BM);
        for (int i = 0; i < 4; i++)
            next_b[i] = from.window(r0 + (t + i * THREADS) / BN, n0 + (t + i * THREADS) % BN);
    };
    fetch(0);
    for (int r0 = 0; r0 < from.rows; r0 += BK) {
        for (int i = 0; i < 2; i++)
            As[(t + i * THREADS) / BM][(t + i * THREADS) % BM] = next_a[i];
        for (int i = 0; i < 4; i++)
            Bs[(t + i * THREADS) / BN][(t + i * THREADS) % BN] = next_b[i];
        __syncthreads();
        if (r0 + BK < from.rows)
            fetch(r0 + BK);
#pragma unroll
        for (int r = 0; r < BK; r++) {
            const float4 a = *(const float4 *)&As[r][row], b = *(const float4 *)&Bs[r][column];
            const float left[4] = {a.x, a.y, a.z, a.w}, right[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    acc[i][j] = fmaf(left[i], right[j], acc[i][j]);
        }
        __syncthreads();
    }
    const int plane = (from.s.H - from.s.K + 1) * (from.s.W - from.s.K + 1);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const int m = m0 + row + i, n = n0 + column + j;
            if (m < from.s.M && n < from.columns)
                y[((size_t)(n / plane) * from.s.M + m) * plane + n % plane] = acc[i][j];
        }
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int plane = (s->H - s->K + 1) * (s->W - s->K + 1);
    const Source from{*s, x, k, s->C * s->K * s->K, s->B * plane};
    const dim3 grid((from.columns + BN - 1) / BN, (s->M + BM - 1) / BM);
    product<<<grid, THREADS>>>(from, y);
    return cudaPeekAtLastError() != cudaSuccess;
}
