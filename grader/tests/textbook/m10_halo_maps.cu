/* m3's tile with its halo; each thread computes two neighbouring columns in four maps, with eight
 * accumulators, so that each load from shared memory serves several products. */
#include "conv.h"

#define TILE_W 32
#define TILE_H 16
#define MAPS   4

__global__ void halo_maps(const float *x, const float *k, float *y, int M, int C, int H, int W,
                          int K)
{
    extern __shared__ float tile[];
    const int H_out = H - K + 1, W_out = W - K + 1, across = (W_out + TILE_W - 1) / TILE_W;
    const int h0 = blockIdx.x / across * TILE_H, w0 = blockIdx.x % across * TILE_W;
    const int pitch = TILE_W + K - 1, tall = TILE_H + K - 1;
    const int tx = threadIdx.x, ty = threadIdx.y, m0 = blockIdx.y * MAPS;
    float *weights = tile + pitch * tall;
    const size_t b = blockIdx.z;
    float left[MAPS] = {0}, right[MAPS] = {0};
    for (int c = 0; c < C; c++) {
        for (int i = ty; i < tall; i += TILE_H)
            for (int j = tx; j < pitch; j += 16)
                tile[i * pitch + j] =
                    h0 + i < H && w0 + j < W ? x[((b * C + c) * H + h0 + i) * W + w0 + j] : 0.0f;
        for (int i = ty * 16 + tx; i < MAPS * K * K; i += 256)
            weights[i] =
                m0 + i / (K * K) < M ? k[((m0 + i / (K * K)) * C + c) * K * K + i % (K * K)] : 0.0f;
        __syncthreads();
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++) {
                const float one = tile[(ty + p) * pitch + tx + q];
                const float two = tile[(ty + p) * pitch + tx + 16 + q];
#pragma unroll
                for (int m = 0; m < MAPS; m++) {
                    const float weight = weights[(m * K + p) * K + q];
                    left[m] += one * weight;
                    right[m] += two * weight;
                }
            }
        __syncthreads();
    }
    for (int m = 0; m < MAPS; m++)
        if (m0 + m < M && h0 + ty < H_out) {
            float *row = y + ((b * M + m0 + m) * H_out + h0 + ty) * W_out + w0;
            if (w0 + tx < W_out)
                row[tx] = left[m];
            if (w0 + tx + 16 < W_out)
                row[tx + 16] = right[m];
        }
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    const size_t bytes =
        ((TILE_W + s->K - 1) * (TILE_H + s->K - 1) + MAPS * s->K * s->K) * sizeof(float);
    dim3 grid((H_out + TILE_H - 1) / TILE_H * ((W_out + TILE_W - 1) / TILE_W),
              (s->M + MAPS - 1) / MAPS, s->B);
    if (bytes > 48 * 1024 &&
        cudaFuncSetAttribute(halo_maps, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes))
        return 1;
    halo_maps<<<grid, dim3(16, TILE_H), bytes>>>(x, k, y, s->M, s->C, s->H, s->W, s->K);
    return cudaGetLastError() != cudaSuccess;
}
