/* m6 as a template: the layer's number of maps and its depth select the tile. */
#include "conv.h"

template <int TILE_M, int TILE_N, int DEPTH>
__global__ void fused(const float *x, const float *k, float *y, int B, int M, int C, int H, int W,
                      int K)
{
    __shared__ float sk[TILE_M][DEPTH], sx[DEPTH][TILE_N];
    const int W_out = W - K + 1, pixels = (H - K + 1) * W_out, inner = C * K * K;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const size_t column = (size_t)blockIdx.x * TILE_N + tx;
    const size_t b = column / pixels;
    const int n = column % pixels, m = blockIdx.y * TILE_M + ty;
    float sum = 0;
    for (int base = 0; base < inner; base += DEPTH) {
        for (int i = tx; i < DEPTH; i += TILE_N)
            sk[ty][i] = m < M && base + i < inner ? k[m * inner + base + i] : 0;
        for (int j = ty; j < DEPTH; j += TILE_M) {
            int i = base + j;
            sx[j][tx] =
                b < B && i < inner
                    ? x[((b * C + i / K / K) * H + n / W_out + i / K % K) * W + n % W_out + i % K]
                    : 0;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH; i++)
            sum += sk[ty][i] * sx[i][tx];
        __syncthreads();
    }
    if (b < B && m < M)
        y[(b * M + m) * pixels + n] = sum;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const size_t columns = (size_t)s->B * (s->H - s->K + 1) * (s->W - s->K + 1);
#define LAUNCH(TM, TN, D)                                                                          \
    fused<TM, TN, D><<<dim3((columns + TN - 1) / TN, (s->M + TM - 1) / TM), dim3(TN, TM)>>>(       \
        x, k, y, s->B, s->M, s->C, s->H, s->W, s->K)
    if (s->C == 1)
        LAUNCH(4, 64, 32);
    else if (s->M > 12)
        LAUNCH(24, 32, 32);
    else
        LAUNCH(12, 32, 32);
    return cudaGetLastError() != cudaSuccess;
}
