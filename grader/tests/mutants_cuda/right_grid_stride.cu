/* expect: pass */
/* Few threads, each of which computes several outputs, some of them none */
#include "conv.h"

__global__ void conv_stride(struct conv_shape s, const float *x, const float *k, float *y)
{
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1;
    const size_t n = (size_t)s.B * s.M * H_out * W_out, step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const size_t w = i % W_out, h = i / W_out % H_out, m = i / W_out / H_out % s.M;
        const size_t b = i / W_out / H_out / s.M;
        float sum = 0;
        for (int c = 0; c < s.C; c++)
            for (int p = 0; p < s.K; p++)
                for (int q = 0; q < s.K; q++)
                    sum += x[((b * s.C + c) * s.H + h + p) * s.W + w + q] *
                           k[((m * s.C + c) * s.K + p) * s.K + q];
        y[i] = sum;
    }
}

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    conv_stride<<<64, 96>>>(*shape, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
