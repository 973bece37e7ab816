/* A plain convolution with a hook wherever students make mistakes. A mutant defines the wrong parts
 * as hooks, as a student would write them, and includes this file. It is built like a lab.
 */
#include "conv.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Sizes */
#ifndef H_OUT
#define H_OUT (H - K + 1)
#endif
#ifndef W_OUT
#define W_OUT (W - K + 1)
#endif

/* Before the loops, around each sum, where terms are added and where the sum is stored */
#ifndef BEGIN
#define BEGIN float sum = 0;
#endif
#ifndef BEGIN_OUTPUT
#define BEGIN_OUTPUT sum = 0;
#endif
#ifndef BEGIN_CHANNEL
#define BEGIN_CHANNEL
#endif
#ifndef TERM
#define TERM sum += x[X_INDEX] * k[K_INDEX];
#endif
#ifndef STORE
#define STORE y[Y_INDEX] = sum;
#endif
#ifndef END
#define END
#endif

/* Loops */
#ifndef FOR_B
#define FOR_B for (int b = 0; b < B; b++)
#endif
#ifndef FOR_M
#define FOR_M for (int m = 0; m < M; m++)
#endif
#ifndef FOR_H
#define FOR_H for (int h = 0; h < H_out; h++)
#endif
#ifndef FOR_W
#define FOR_W for (int w = 0; w < W_out; w++)
#endif
#ifndef FOR_C
#define FOR_C for (int c = 0; c < C; c++)
#endif
#ifndef FOR_P
#define FOR_P for (int p = 0; p < K; p++)
#endif
#ifndef FOR_Q
#define FOR_Q for (int q = 0; q < K; q++)
#endif

/* Indices */
#ifndef X_INDEX
#define X_INDEX ((b * C + c) * H + h + p) * W + w + q
#endif
#ifndef K_INDEX
#define K_INDEX ((m * C + c) * K + p) * K + q
#endif
#ifndef Y_INDEX
#define Y_INDEX ((b * M + m) * H_out + h) * W_out + w
#endif

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    const int B = shape->B, M = shape->M, C = shape->C, H = shape->H, W = shape->W, K = shape->K;
    const int H_out = H_OUT, W_out = W_OUT;
    (void)B, (void)M, (void)C, (void)H, (void)W, (void)K, (void)H_out, (void)W_out, (void)y;
    BEGIN
    FOR_B
    {
        FOR_M
        {
            FOR_H
            {
                FOR_W
                {
                    BEGIN_OUTPUT
                    FOR_C
                    {
                        BEGIN_CHANNEL
                        FOR_P
                        {
                            FOR_Q
                            {
                                TERM
                            }
                        }
                    }
                    STORE
                }
            }
        }
    }
    END return 0;
}
