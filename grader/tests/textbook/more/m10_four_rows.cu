/* m3's tile with its halo; each thread makes four outputs, one below the other: a register that has served one
 * row serves the next, so each step down a column of the filter loads one new element of the tile. */
#include "conv.h"

#define SIDE 32
#define ROWS 4

__global__ void four_rows(conv_shape s, const float *__restrict__ x, const float *__restrict__ k,
                          float *__restrict__ y)
{
    extern __shared__ float tile[];
    const int Ho = s.H - s.K + 1, Wo = s.W - s.K + 1, pitch = SIDE + s.K - 1;
    const int across = (Wo + SIDE - 1) / SIDE;
    const int h0 = blockIdx.x / across * SIDE, w0 = blockIdx.x % across * SIDE;
    const int tx = threadIdx.x, top = threadIdx.y * ROWS, m = blockIdx.y, b = blockIdx.z;
    float a0 = 0, a1 = 0, a2 = 0, a3 = 0;
    for (int c = 0; c < s.C; ++c) {
        const float *plane = x + ((size_t)b * s.C + c) * s.H * s.W;
        for (int i = threadIdx.y * SIDE + tx; i < pitch * pitch; i += SIDE * SIDE / ROWS) {
            const int r = h0 + i / pitch, q = w0 + i % pitch;
            tile[i] = r < s.H && q < s.W ? plane[r * s.W + q] : 0.f;
        }
        __syncthreads();
        const float *weight = k + ((size_t)m * s.C + c) * s.K * s.K;
        for (int q = 0; q < s.K; ++q) {
            const float *column = tile + top * pitch + tx + q;
            float v0 = column[0], v1 = column[pitch], v2 = column[2 * pitch];
            for (int p = 0; p < s.K; ++p) {
                const float v3 = column[(p + 3) * pitch], f = weight[p * s.K + q];
                a0 += f * v0;
                a1 += f * v1;
                a2 += f * v2;
                a3 += f * v3;
                v0 = v1;
                v1 = v2;
                v2 = v3;
            }
        }
        __syncthreads();
    }
    const float sums[ROWS] = {a0, a1, a2, a3};
    for (int r = 0; r < ROWS; ++r)
        if (h0 + top + r < Ho && w0 + tx < Wo)
            y[(((size_t)b * s.M + m) * Ho + h0 + top + r) * Wo + w0 + tx] = sums[r];
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int Ho = s->H - s->K + 1, Wo = s->W - s->K + 1, pitch = SIDE + s->K - 1;
    const int bytes = pitch * pitch * (int)sizeof(float);
    const dim3 grid((Ho + SIDE - 1) / SIDE * ((Wo + SIDE - 1) / SIDE), s->M, s->B);
    if (bytes > 49152 &&
        cudaFuncSetAttribute(four_rows, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes))
        return 1;
    four_rows<<<grid, dim3(SIDE, SIDE / ROWS), bytes>>>(*s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
