/* A plain convolution, one thread per output, with a hook in each place where students make
 * mistakes. A mutant defines the wrong parts as hooks, as a student would write them, and includes
 * this file. A mutant is built like a lab. ../mutants/mutants.sh explains a mutant's first line;
 * "(behaviour)" marks mutants recognised by their behaviour, not by their outputs.
 */
#include "conv.h"

/* Sizes of the output, as the kernel and the host code see them */
#ifndef H_OUT
#define H_OUT (H - K + 1)
#endif
#ifndef W_OUT
#define W_OUT (W - K + 1)
#endif

/* The launch */
#ifndef BLOCK
#define BLOCK dim3(16, 16)
#endif
#ifndef GRID
#define GRID dim3((W_out + 15) / 16, (H_out + 15) / 16, B * M)
#endif

/* On the host, before and after the launch */
#ifndef BEGIN
#define BEGIN
#endif
#ifndef END
#define END
#endif

/* The output element of this thread */
#ifndef H_MINE
#define H_MINE (blockIdx.y * blockDim.y + threadIdx.y)
#endif
#ifndef W_MINE
#define W_MINE (blockIdx.x * blockDim.x + threadIdx.x)
#endif
#ifndef GUARD
#define GUARD if (h < H_out && w < W_out)
#endif

/* In the kernel: before the guard, around the sum, where terms are added and the sum is stored */
#ifndef BEGIN_BLOCK
#define BEGIN_BLOCK
#endif
#ifndef TERM
#define TERM sum += x[X_INDEX] * k[K_INDEX];
#endif
#ifndef STORE
#define STORE y[Y_INDEX] = sum;
#endif

/* Indices */
#ifndef X_INDEX
#define X_INDEX ((b * C + c) * H + h + p) * W + w + q
#endif
#ifndef K_INDEX
#define K_INDEX ((m * C + c) * K + p) * K + q
#endif
#ifndef Y_INDEX
#define Y_INDEX ((size_t)(b * M + m) * H_out + h) * W_out + w
#endif

__global__ void conv_plain(struct conv_shape shape, const float *x, const float *k, float *y)
{
    const int M = shape.M, C = shape.C, H = shape.H, W = shape.W, K = shape.K;
    const int H_out = H_OUT, W_out = W_OUT;
    const int b = blockIdx.z / M, m = blockIdx.z % M, h = H_MINE, w = W_MINE;
    (void)C, (void)H_out, (void)W_out;
    BEGIN_BLOCK
    GUARD
    {
        float sum = 0;
        for (int c = 0; c < C; c++)
            for (int p = 0; p < K; p++)
                for (int q = 0; q < K; q++) {
                    TERM
                }
        STORE
    }
}

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    const int B = shape->B, M = shape->M, H = shape->H, W = shape->W, K = shape->K;
    const int H_out = H_OUT, W_out = W_OUT;
    (void)B, (void)M, (void)H_out, (void)W_out;
    BEGIN
    conv_plain<<<GRID, BLOCK>>>(*shape, x, k, y);
    END return 0;
}
