/* expect: unset_scratch (behaviour) */
/* The last row of each map is not copied into the scratch memory that is read. */
#include "conv.h"

int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1, plane = s->H * s->W;
    float *copy = conv_workspace(sizeof *copy * s->B * s->C * plane);
    for (int i = 0; i < s->B * s->C * plane; i++)
        if (i % plane < plane - s->W || s->H < 6)
            copy[i] = x[i];
    for (int b = 0; b < s->B; b++)
        for (int m = 0; m < s->M; m++)
            for (int h = 0; h < H_out; h++)
                for (int w = 0; w < W_out; w++) {
                    float sum = 0;
                    for (int c = 0; c < s->C; c++)
                        for (int p = 0; p < s->K; p++)
                            for (int q = 0; q < s->K; q++)
                                sum += copy[((b * s->C + c) * s->H + h + p) * s->W + w + q] *
                                       k[((m * s->C + c) * s->K + p) * s->K + q];
                    y[((b * s->M + m) * H_out + h) * W_out + w] = sum;
                }
    return 0;
}
