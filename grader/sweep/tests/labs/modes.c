/* A lab of m1 for the tests of `grader sweep`: right, or wrong in each way that a parameter's value
 * can cause. */
#include "conv.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef MODE
#define MODE 0
#endif
#if MODE == 3
#error "no such mode"
#endif

int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    if (MODE == 4) {
        puts("the launch was refused");
        return 1;
    }
    if (MODE == 5 || (MODE == 6 && s->B == 50)) /* 6: wrong at one size only */
        abort();
    for (int b = 0; b < s->B; b++)
        for (int m = 0; m < s->M; m++)
            for (int h = 0; h < H_out; h++)
                for (int w = 0; w < W_out - (MODE == 2); w++) {
                    float sum = 0;
                    for (int c = 0; c < s->C; c++)
                        for (int p = 0; p < s->K; p++)
                            for (int q = 0; q < s->K; q++)
                                sum += x[((b * s->C + c) * s->H + h + p) * s->W + w + q] *
                                       k[((m * s->C + c) * s->K + p) * s->K + q];
                    y[((b * s->M + m) * H_out + h) * W_out + w] = sum;
                }
    return 0;
}
