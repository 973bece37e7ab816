/* m2 with __restrict__ and "#pragma unroll 5" before a loop whose trip count is known only at run
 * time. */
#include "conv.h"

__global__ void conv(const float *__restrict__ x, const float *__restrict__ k,
                     float *__restrict__ y, int M, int C, int H, int W, int K)
{
    const int H_out = H - K + 1, W_out = W - K + 1;
    const int W_grid = (W_out + 15) / 16;
    const int h = blockIdx.z / W_grid * 16 + threadIdx.y;
    const int w = blockIdx.z % W_grid * 16 + threadIdx.x;
    const int m = blockIdx.y;
    const size_t b = blockIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    float acc = 0.0f;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
#pragma unroll 5
            for (int q = 0; q < K; q++)
                acc += x[((b * C + c) * H + h + p) * W + w + q] * k[((m * C + c) * K + p) * K + q];
    y[((b * M + m) * H_out + h) * W_out + w] = acc;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    dim3 grid(s->B, s->M, ((W_out + 15) / 16) * ((H_out + 15) / 16));
    conv<<<grid, dim3(16, 16)>>>(x, k, y, s->M, s->C, s->H, s->W, s->K);
    return cudaGetLastError() != cudaSuccess;
}
