/* A thread computes 4 columns x 4 maps; x is in a tile whose rows are read into a window of
 * registers, the weights are float4 of four neighbouring maps. Two input maps at a time (double
 * buffer). */
#include "conv.h"

#define TH 8
#define TW 64

template <int K>
__global__ void tile4x4(const float *__restrict__ x, const float *__restrict__ k,
                        float *__restrict__ y, int M, int C, int H, int W)
{
    constexpr int ROWS = TH + K - 1, PITCH = TW + (K + 2) / 4 * 4;
    __shared__ __align__(16) float xs[2][ROWS][PITCH];
    __shared__ float4 ks[2][K * K];
    const int Ho = H - K + 1, Wo = W - K + 1, nw = (Wo + TW - 1) / TW;
    const int h0 = blockIdx.x / nw * TH, w0 = blockIdx.x % nw * TW, m0 = blockIdx.y * 4;
    const int tid = threadIdx.y * 16 + threadIdx.x;
    auto stage = [&](int c, int to) {
        for (int i = tid; i < ROWS * PITCH; i += 128) {
            const int r = i / PITCH, q = i % PITCH;
            xs[to][r][q] = h0 + r < H && w0 + q < W
                               ? x[(((size_t)blockIdx.z * C + c) * H + h0 + r) * W + w0 + q]
                               : 0.f;
        }
        for (int i = tid; i < K * K; i += 128) {
            float v[4];
            for (int m = 0; m < 4; m++)
                v[m] = m0 + m < M ? k[((m0 + m) * C + c) * K * K + i] : 0.f;
            ks[to][i] = make_float4(v[0], v[1], v[2], v[3]);
        }
    };
    float acc[4][4] = {};
    stage(0, 0);
    for (int c = 0; c < C; c++) {
        __syncthreads();
        if (c + 1 < C)
            stage(c + 1, (c + 1) & 1);
#pragma unroll
        for (int p = 0; p < K; p++) {
            float row[K + 3];
#pragma unroll
            for (int i = 0; i < K + 3; i++)
                row[i] = xs[c & 1][threadIdx.y + p][threadIdx.x * 4 + i];
#pragma unroll
            for (int q = 0; q < K; q++) {
                const float4 f = ks[c & 1][p * K + q];
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    acc[0][j] += f.x * row[q + j];
                    acc[1][j] += f.y * row[q + j];
                    acc[2][j] += f.z * row[q + j];
                    acc[3][j] += f.w * row[q + j];
                }
            }
        }
    }
    const int h = h0 + threadIdx.y;
    for (int m = 0; m < 4; m++)
        for (int j = 0; j < 4; j++) {
            const int w = w0 + threadIdx.x * 4 + j;
            if (m0 + m < M && h < Ho && w < Wo)
                y[(((size_t)blockIdx.z * M + m0 + m) * Ho + h) * Wo + w] = acc[m][j];
        }
}

__global__ void direct(struct conv_shape s, const float *x, const float *k, float *y)
{
    const int Ho = s.H - s.K + 1, Wo = s.W - s.K + 1;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, h = i / Wo, w = i % Wo;
    if (h >= Ho)
        return;
    float sum = 0;
    for (int c = 0; c < s.C; c++)
        for (int p = 0; p < s.K; p++)
            for (int q = 0; q < s.K; q++)
                sum += x[(((size_t)blockIdx.z * s.C + c) * s.H + h + p) * s.W + w + q] *
                       k[((blockIdx.y * s.C + c) * s.K + p) * s.K + q];
    y[(((size_t)blockIdx.z * s.M + blockIdx.y) * Ho + h) * Wo + w] = sum;
}

static int plain(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int outputs = (s->H - s->K + 1) * (s->W - s->K + 1);
    direct<<<dim3((outputs + 127) / 128, s->M, s->B), 128>>>(*s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const dim3 grid((s->H - s->K + TH) / TH * ((s->W - s->K + TW) / TW), (s->M + 3) / 4, s->B),
        block(16, TH);
    switch (s->K) {
#define CASE(n)                                                                                    \
    case n:                                                                                        \
        tile4x4<n><<<grid, block>>>(x, k, y, s->M, s->C, s->H, s->W);                              \
        break
        CASE(1);
        CASE(3);
        CASE(5);
        CASE(7);
    default:
        return plain(s, x, k, y);
    }
    return cudaGetLastError() != cudaSuccess;
}
