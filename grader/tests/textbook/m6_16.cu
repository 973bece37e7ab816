/* Unroll and multiply in one kernel: the tile of the unrolled matrix is made while it is loaded.
 * 16 x 16 outputs per block, one per thread. */
#include "conv.h"

#define TILE 16

__global__ void fused(const float *x, const float *k, float *y, int M, int C, int H, int W, int K)
{
    __shared__ float tileA[TILE][TILE];
    __shared__ float tileB[TILE][TILE];
    const int H_out = H - K + 1, W_out = W - K + 1;
    const int inner = C * K * K, pixels = H_out * W_out;
    const size_t b = blockIdx.z;
    const int m = blockIdx.y * TILE + threadIdx.y;
    const int pixel = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int base = 0; base < inner; base += TILE) {
        int i = base + threadIdx.x;
        tileA[threadIdx.y][threadIdx.x] = m < M && i < inner ? k[(size_t)m * inner + i] : 0.0f;
        i = base + threadIdx.y;
        if (pixel < pixels && i < inner) {
            int c = i / (K * K), p = i % (K * K) / K, q = i % K;
            int h = pixel / W_out, w = pixel % W_out;
            tileB[threadIdx.y][threadIdx.x] = x[((b * C + c) * H + h + p) * W + w + q];
        } else {
            tileB[threadIdx.y][threadIdx.x] = 0.0f;
        }
        __syncthreads();
        for (int j = 0; j < TILE; j++)
            sum += tileA[threadIdx.y][j] * tileB[j][threadIdx.x];
        __syncthreads();
    }
    if (m < M && pixel < pixels)
        y[(b * M + m) * pixels + pixel] = sum;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int pixels = (s->H - s->K + 1) * (s->W - s->K + 1);
    const int most = 65535;
    for (int b = 0; b < s->B; b += most) {
        const int images = s->B - b < most ? s->B - b : most;
        fused<<<dim3((pixels + TILE - 1) / TILE, (s->M + TILE - 1) / TILE, images),
                dim3(TILE, TILE)>>>(x + (size_t)b * s->C * s->H * s->W, k,
                                    y + (size_t)b * s->M * pixels, s->M, s->C, s->H, s->W, s->K);
    }
    return cudaGetLastError() != cudaSuccess;
}
