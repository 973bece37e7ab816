/* The book's basic kernel: a grid of tiles, output maps and images; macros for the indices. */
#include "conv.h"

#define TILE_WIDTH 16

__global__ void conv_forward_kernel(float *y, const float *x, const float *k, const int B,
                                    const int M, const int C, const int H, const int W, const int K)
{
    const int H_out = H - K + 1;
    const int W_out = W - K + 1;
    const int W_grid = (W_out + TILE_WIDTH - 1) / TILE_WIDTH;
#define y4d(i3, i2, i1, i0)                                                                        \
    y[(size_t)(i3) * (M * H_out * W_out) + (i2) * (H_out * W_out) + (i1)*W_out + i0]
#define x4d(i3, i2, i1, i0) x[(size_t)(i3) * (C * H * W) + (i2) * (H * W) + (i1)*W + i0]
#define k4d(i3, i2, i1, i0) k[(i3) * (C * K * K) + (i2) * (K * K) + (i1)*K + i0]
    int n = blockIdx.x;
    int m = blockIdx.y;
    int h = (blockIdx.z / W_grid) * TILE_WIDTH + threadIdx.y;
    int w = (blockIdx.z % W_grid) * TILE_WIDTH + threadIdx.x;
    if (h < H_out && w < W_out) {
        float acc = 0;
        for (int c = 0; c < C; c++)
            for (int p = 0; p < K; p++)
                for (int q = 0; q < K; q++)
                    acc += x4d(n, c, h + p, w + q) * k4d(m, c, p, q);
        y4d(n, m, h, w) = acc;
    }
#undef y4d
#undef x4d
#undef k4d
}

extern "C" int conv_forward(const struct conv_shape *shape, const float *x, const float *k,
                            float *y)
{
    const int H_out = shape->H - shape->K + 1, W_out = shape->W - shape->K + 1;
    const int W_grid = (W_out + TILE_WIDTH - 1) / TILE_WIDTH;
    const int H_grid = (H_out + TILE_WIDTH - 1) / TILE_WIDTH;
    dim3 gridDim(shape->B, shape->M, W_grid * H_grid);
    dim3 blockDim(TILE_WIDTH, TILE_WIDTH, 1);
    conv_forward_kernel<<<gridDim, blockDim>>>(y, x, k, shape->B, shape->M, shape->C, shape->H,
                                               shape->W, shape->K);
    return cudaGetLastError();
}
