/* The outputs are split among LAUNCHES launches of BLOCKS blocks, each in a stream of its own. */
#include "conv.h"

__global__ void conv_part(struct conv_shape s, const float *x, const float *k, float *y,
                          size_t first, size_t end)
{
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1;
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = first + blockIdx.x * blockDim.x + threadIdx.x; i < end; i += step) {
        const int w = i % W_out, h = i / W_out % H_out, m = i / W_out / H_out % s.M,
                  b = i / W_out / H_out / s.M;
        float sum = 0;
        for (int c = 0; c < s.C; c++)
            for (int p = 0; p < s.K; p++)
                for (int q = 0; q < s.K; q++)
                    sum += x[(((size_t)b * s.C + c) * s.H + h + p) * s.W + w + q] *
                           k[((m * s.C + c) * s.K + p) * s.K + q];
        y[i] = sum;
    }
}

int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    static cudaStream_t stream[LAUNCHES];
    const size_t n = (size_t)s->B * s->M * (s->H - s->K + 1) * (s->W - s->K + 1);
    for (int i = 0; i < LAUNCHES; i++) {
        if (!stream[i])
            cudaStreamCreate(&stream[i]);
        conv_part<<<BLOCKS, 256, 0, stream[i]>>>(*s, x, k, y, n * i / LAUNCHES,
                                                 n * (i + 1) / LAUNCHES);
    }
    return 0;
}
