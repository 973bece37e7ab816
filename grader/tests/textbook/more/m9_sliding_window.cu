/* A thread moves down a column with a sliding window of K x K registers; a template unrolls all
 * loops over the filter; weights through __ldg. */
#include "conv.h"

#define ROWS 4

template <int K>
__global__ void slide(conv_shape s, const float *__restrict__ x, const float *__restrict__ k,
                      float *__restrict__ y)
{
    const int Ho = s.H - K + 1, Wo = s.W - K + 1, strips = (Ho + ROWS - 1) / ROWS;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, w = i % Wo, h0 = i / Wo * ROWS,
              m = blockIdx.y;
    if (i >= strips * Wo)
        return;
    float sum[ROWS] = {};
    for (int c = 0; c < s.C; c++) {
        const float *in = x + (((size_t)blockIdx.z * s.C + c) * s.H + h0) * s.W + w;
        const float *f = k + (m * s.C + c) * K * K;
#pragma unroll
        for (int r = 0; r < ROWS + K - 1; r++) {
            float row[K];
#pragma unroll
            for (int q = 0; q < K; q++)
                row[q] = h0 + r < s.H ? in[r * s.W + q] : 0.f;
#pragma unroll
            for (int p = 0; p < K; p++)
                if (r - p >= 0 && r - p < ROWS)
#pragma unroll
                    for (int q = 0; q < K; q++)
                        sum[r - p] += row[q] * __ldg(f + p * K + q);
        }
    }
    for (int r = 0; r < ROWS && h0 + r < Ho; r++)
        y[(((size_t)blockIdx.z * s.M + m) * Ho + h0 + r) * Wo + w] = sum[r];
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
    const int n = (s->W - s->K + 1) * ((s->H - s->K + ROWS) / ROWS);
    const dim3 grid((n + 127) / 128, s->M, s->B);
    if (s->K == 5)
        slide<5><<<grid, 128>>>(*s, x, k, y);
    else if (s->K == 3)
        slide<3><<<grid, 128>>>(*s, x, k, y);
    else
        return plain(s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
