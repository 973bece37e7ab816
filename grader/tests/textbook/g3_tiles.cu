/* The book's tiled product: a thread per element, tiles of 16 x 16 of both matrices in shared memory. */
#include "gemm.h"

#define TILE 16

__global__ void product(int M, int N, int K, const float *A, const float *B, float *C)
{
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int m = blockIdx.x * TILE + ty;
    for (int n0 = blockIdx.y * TILE; n0 < N; n0 += gridDim.y * TILE) {
        const int n = n0 + tx;
        float sum = 0;
        for (int t = 0; t < (K + TILE - 1) / TILE; t++) {
            const int a = t * TILE + tx, b = t * TILE + ty;
            As[ty][tx] = m < M && a < K ? A[(size_t)m * K + a] : 0;
            Bs[ty][tx] = b < K && n < N ? B[(size_t)b * N + n] : 0;
            __syncthreads();
            for (int i = 0; i < TILE; i++)
                sum += As[ty][i] * Bs[i][tx];
            __syncthreads();
        }
        if (m < M && n < N)
            C[(size_t)m * N + n] = sum;
    }
}

int gemm_forward(int M, int N, int K, const float *A, const float *B, float *C)
{
    const int rows = (M + TILE - 1) / TILE, columns = (N + TILE - 1) / TILE;
    product<<<dim3(rows, columns < 65535 ? columns : 65535), dim3(TILE, TILE)>>>(M, N, K, A, B, C);
    return cudaGetLastError() != cudaSuccess;
}
