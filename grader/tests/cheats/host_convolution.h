/* A convolution for submissions that compute on the host. */
#ifndef HOST_CONVOLUTION_H
#define HOST_CONVOLUTION_H
#include "conv.h"

static void host_convolution(const struct conv_shape *shape, const float *x, const float *k,
                             float *y)
{
    const int B = shape->B, M = shape->M, C = shape->C, H = shape->H, W = shape->W, K = shape->K;
    const int H_out = H - K + 1, W_out = W - K + 1;
    for (size_t i = 0; i < (size_t)B * M * H_out * W_out; i++) {
        const int w = i % W_out, h = i / W_out % H_out, m = i / W_out / H_out % M,
                  b = i / W_out / H_out / M;
        float sum = 0;
        for (int c = 0; c < C; c++)
            for (int p = 0; p < K; p++)
                for (int q = 0; q < K; q++)
                    sum +=
                        x[((b * C + c) * H + h + p) * W + w + q] * k[((m * C + c) * K + p) * K + q];
        y[i] = sum;
    }
}

#endif
