/* Unrolls the input into a matrix, in groups of images, and multiplies by tiles. */
#include "conv.h"

#define TILE   16
#define IMAGES 50 /* unrolled at the same time */

__global__ void unroll(struct conv_shape s, const float *x, float *u)
{
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1, n = H_out * W_out;
    const int at = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, b = blockIdx.z;
    if (at >= n)
        return;
    const int c = row / (s.K * s.K), p = row / s.K % s.K, q = row % s.K;
    u[((size_t)b * s.C * s.K * s.K + row) * n + at] =
        x[((b * s.C + c) * s.H + at / W_out + p) * s.W + at % W_out + q];
}

__global__ void multiply(int rows, int inner, int columns, const float *k, const float *u, float *y)
{
    __shared__ float s_k[TILE][TILE], s_u[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    u += (size_t)blockIdx.z * inner * columns;
    float sum = 0;
    for (int t = 0; t < inner; t += TILE) {
        const int i = t + threadIdx.x, j = t + threadIdx.y;
        s_k[threadIdx.y][threadIdx.x] = row < rows && i < inner ? k[row * inner + i] : 0;
        s_u[threadIdx.y][threadIdx.x] =
            j < inner && column < columns ? u[(size_t)j * columns + column] : 0;
        __syncthreads();
        for (int e = 0; e < TILE; e++)
            sum += s_k[threadIdx.y][e] * s_u[e][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && column < columns)
        y[((size_t)blockIdx.z * rows + row) * columns + column] = sum;
}

int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int n = (s->H - s->K + 1) * (s->W - s->K + 1), inner = s->C * s->K * s->K;
    float *u = (float *)conv_workspace((size_t)IMAGES * inner * n * sizeof(float));
    if (!u)
        return 1;
    for (int b = 0; b < s->B; b += IMAGES) {
        struct conv_shape part = *s;
        part.B = s->B - b < IMAGES ? s->B - b : IMAGES;
        unroll<<<dim3((n + 255) / 256, inner, part.B), 256>>>(
            part, x + (size_t)b * s->C * s->H * s->W, u);
        multiply<<<dim3((n + TILE - 1) / TILE, (s->M + TILE - 1) / TILE, part.B),
                   dim3(TILE, TILE)>>>(s->M, inner, n, k, u, y + (size_t)b * s->M * n);
    }
    return cudaGetLastError() != cudaSuccess;
}
