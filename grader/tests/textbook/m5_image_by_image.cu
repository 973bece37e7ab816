/* Image by image, as in the book: unrolls one image and multiplies it, with 32 x 32 tiles. */
#include "conv.h"

#define TILE_WIDTH 32

__global__ void unroll_kernel(int C, int H, int W, int K, const float *X, float *X_unroll)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int H_out = H - K + 1;
    int W_out = W - K + 1;
    int W_unroll = H_out * W_out;
    if (t < C * W_unroll) {
        int c = t / W_unroll;
        int s = t % W_unroll;
        int h_out = s / W_out;
        int w_out = s % W_out;
        int w_base = c * K * K;
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                X_unroll[(w_base + p * K + q) * W_unroll + s] =
                    X[(c * H + h_out + p) * W + w_out + q];
    }
}

__global__ void matrixMultiplyShared(const float *A, const float *B, float *C, int numARows,
                                     int numAColumns, int numBColumns)
{
    __shared__ float subTileA[TILE_WIDTH][TILE_WIDTH];
    __shared__ float subTileB[TILE_WIDTH][TILE_WIDTH];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int Row = by * TILE_WIDTH + ty;
    int Col = bx * TILE_WIDTH + tx;
    float Cvalue = 0;
    for (int m = 0; m < (numAColumns - 1) / TILE_WIDTH + 1; ++m) {
        if (Row < numARows && m * TILE_WIDTH + tx < numAColumns)
            subTileA[ty][tx] = A[Row * numAColumns + m * TILE_WIDTH + tx];
        else
            subTileA[ty][tx] = 0;
        if (m * TILE_WIDTH + ty < numAColumns && Col < numBColumns)
            subTileB[ty][tx] = B[(m * TILE_WIDTH + ty) * numBColumns + Col];
        else
            subTileB[ty][tx] = 0;
        __syncthreads();
        for (int k = 0; k < TILE_WIDTH; ++k)
            Cvalue += subTileA[ty][k] * subTileB[k][tx];
        __syncthreads();
    }
    if (Row < numARows && Col < numBColumns)
        C[Row * numBColumns + Col] = Cvalue;
}

extern "C" int conv_forward(const struct conv_shape *shape, const float *x, const float *k,
                            float *y)
{
    int B = shape->B, M = shape->M, C = shape->C, H = shape->H, W = shape->W, K = shape->K;
    int H_out = H - K + 1, W_out = W - K + 1;
    int rows = C * K * K, columns = H_out * W_out;
    float *X_unroll = (float *)conv_workspace((size_t)rows * columns * sizeof(float));
    if (X_unroll == NULL)
        return 1;
    dim3 block(TILE_WIDTH, TILE_WIDTH);
    dim3 grid((columns - 1) / TILE_WIDTH + 1, (M - 1) / TILE_WIDTH + 1);
    for (int n = 0; n < B; n++) {
        unroll_kernel<<<(C * columns - 1) / 256 + 1, 256>>>(C, H, W, K, x + (size_t)n * C * H * W,
                                                            X_unroll);
        matrixMultiplyShared<<<grid, block>>>(k, X_unroll, y + (size_t)n * M * columns, M, rows,
                                              columns);
    }
    if (cudaGetLastError() != cudaSuccess)
        return 1;
    return 0;
}
