/* The seven loops of the definition. */
#include "conv.h"

int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    int B = s->B, M = s->M, C = s->C, H = s->H, W = s->W, K = s->K;
    int H_out = H - K + 1, W_out = W - K + 1;
    for (int b = 0; b < B; b++)
        for (int m = 0; m < M; m++)
            for (int h = 0; h < H_out; h++)
                for (int w = 0; w < W_out; w++) {
                    float sum = 0;
                    for (int c = 0; c < C; c++)
                        for (int p = 0; p < K; p++)
                            for (int q = 0; q < K; q++)
                                sum += x[((b * C + c) * H + h + p) * W + w + q] *
                                       k[((m * C + c) * K + p) * K + q];
                    y[((b * M + m) * H_out + h) * W_out + w] = sum;
                }
    return 0;
}
