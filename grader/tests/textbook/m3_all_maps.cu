/* 32 x 8 outputs per block; all input maps of the tile are staged at once, with one barrier, if
 * they fit; otherwise as many as fit. */
#include "conv.h"

enum { TW = 32, TH = 8, MOST_BYTES = 40 * 1024 };

__device__ inline size_t at4(int a, int b, int c, int d, int nb, int nc, int nd)
{
    return (((size_t)a * nb + b) * nc + c) * nd + d;
}

template <bool STAGED>
__global__ void conv(const float *x, const float *k, float *y, int M, int C, int H, int W, int K,
                     int maps)
{
    extern __shared__ float s[];
    int H_out = H - K + 1, W_out = W - K + 1;
    int b = blockIdx.x, m = blockIdx.y;
    int per_row = (W_out + TW - 1) / TW;
    int h1 = blockIdx.z / per_row * TH, w1 = blockIdx.z % per_row * TW;
    int h = h1 + threadIdx.y, w = w1 + threadIdx.x;
    int rows = TH + K - 1, cols = TW + K - 1;
    int me = threadIdx.y * TW + threadIdx.x;
    float sum = 0;
    for (int c0 = 0; c0 < C; c0 += maps) {
        int now = C - c0 < maps ? C - c0 : maps;
        if (STAGED) {
            for (int i = me; i < now * rows * cols; i += TW * TH) {
                int c = i / (rows * cols), r = i / cols % rows, q = i % cols;
                s[i] = h1 + r < H && w1 + q < W ? x[at4(b, c0 + c, h1 + r, w1 + q, C, H, W)] : 0;
            }
            __syncthreads();
        }
        if (h < H_out && w < W_out)
            for (int c = 0; c < now; c++)
                for (int p = 0; p < K; p++)
                    for (int q = 0; q < K; q++) {
                        float v = STAGED ? s[(c * rows + threadIdx.y + p) * cols + threadIdx.x + q]
                                         : x[at4(b, c0 + c, h + p, w + q, C, H, W)];
                        sum += v * k[at4(m, c0 + c, p, q, C, K, K)];
                    }
        if (STAGED)
            __syncthreads();
    }
    if (h < H_out && w < W_out)
        y[at4(b, m, h, w, M, H_out, W_out)] = sum;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    int bytes_per_map = (TH + s->K - 1) * (TW + s->K - 1) * (int)sizeof(float);
    int maps = MOST_BYTES / bytes_per_map;
    dim3 grid(s->B, s->M, ((W_out + TW - 1) / TW) * ((H_out + TH - 1) / TH)), block(TW, TH);
    if (maps > s->C)
        maps = s->C;
    if (maps > 0)
        conv<true>
            <<<grid, block, maps * bytes_per_map>>>(x, k, y, s->M, s->C, s->H, s->W, s->K, maps);
    else
        conv<false><<<grid, block>>>(x, k, y, s->M, s->C, s->H, s->W, s->K, s->C);
    return cudaGetLastError() != cudaSuccess;
}
