/* im2col of as many images as fit into memory, then the book's 16 x 16 tiled product, one image per
 * layer of the grid. */
#include "conv.h"

#define TILE 16

__global__ void unroll(const float *x, float *u, int C, int H, int W, int K)
{
    int H_out = H - K + 1, W_out = W - K + 1;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int cols = H_out * W_out;
    size_t b = blockIdx.z;
    int c = blockIdx.y;
    if (col >= cols)
        return;
    int h = col / W_out, w = col % W_out;
    for (int p = 0; p < K; p++)
        for (int q = 0; q < K; q++)
            u[((b * C + c) * K * K + p * K + q) * cols + col] =
                x[((b * C + c) * H + h + p) * W + w + q];
}

__global__ void matmul(const float *A, const float *B, float *out, int rows, int inner, int cols)
{
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    B += (size_t)blockIdx.z * inner * cols;
    out += (size_t)blockIdx.z * rows * cols;
    float sum = 0;
    for (int t = 0; t < (inner + TILE - 1) / TILE; t++) {
        int a_col = t * TILE + threadIdx.x, b_row = t * TILE + threadIdx.y;
        As[threadIdx.y][threadIdx.x] =
            row < rows && a_col < inner ? A[(size_t)row * inner + a_col] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] =
            b_row < inner && col < cols ? B[(size_t)b_row * cols + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += As[threadIdx.y][i] * Bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && col < cols)
        out[(size_t)row * cols + col] = sum;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    const int inner = s->C * s->K * s->K, cols = H_out * W_out;
    const size_t per_image = (size_t)inner * cols;
    int images = s->B < 1000 ? s->B : 1000;
    float *u = NULL;
    while (images > 0 && !(u = (float *)conv_workspace(images * per_image * sizeof(float))))
        images /= 2;
    if (!u)
        return 1;
    for (int b = 0; b < s->B; b += images) {
        int now = s->B - b < images ? s->B - b : images;
        unroll<<<dim3((cols + 255) / 256, s->C, now), 256>>>(x + (size_t)b * s->C * s->H * s->W, u,
                                                             s->C, s->H, s->W, s->K);
        matmul<<<dim3((cols + TILE - 1) / TILE, (s->M + TILE - 1) / TILE, now), dim3(TILE, TILE)>>>(
            k, u, y + (size_t)b * s->M * cols, s->M, inner, cols);
    }
    return cudaGetLastError() != cudaSuccess;
}
