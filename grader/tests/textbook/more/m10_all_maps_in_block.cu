/* A block stages 8 rows of 32 columns with their halo and makes them in all maps, eight maps at a time: a thread
 * owns one place and holds eight sums; weights are staged, too, in the order in which they are read. */
#include "conv.h"

#define TX   32
#define TY   8
#define MAPS 8

__global__ void places(struct conv_shape s, const float *x, const float *k, float *y)
{
    extern __shared__ float memory[];
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1, taps = s.K * s.K;
    const int wide = TX + s.K - 1, high = TY + s.K - 1;
    float *xs = memory, *ks = memory + wide * high; /* ks[tap][map] */
    const int w0 = blockIdx.x * TX, h0 = blockIdx.y * TY, b = blockIdx.z;
    const int me = threadIdx.y * TX + threadIdx.x, h = h0 + threadIdx.y, w = w0 + threadIdx.x;
    for (int m0 = 0; m0 < s.M; m0 += MAPS) {
        float sum[MAPS];
#pragma unroll
        for (int i = 0; i < MAPS; i++)
            sum[i] = 0.0f;
        for (int c = 0; c < s.C; c++) {
            __syncthreads();
            for (int i = me; i < wide * high; i += TX * TY) {
                const int r = h0 + i / wide, q = w0 + i % wide;
                xs[i] =
                    (r < s.H && q < s.W) ? x[(((size_t)b * s.C + c) * s.H + r) * s.W + q] : 0.0f;
            }
            for (int i = me; i < taps * MAPS; i += TX * TY) {
                const int m = m0 + i % MAPS;
                ks[i] = m < s.M ? k[((size_t)m * s.C + c) * taps + i / MAPS] : 0.0f;
            }
            __syncthreads();
            for (int t = 0; t < taps; t++) {
                const float v = xs[(threadIdx.y + t / s.K) * wide + threadIdx.x + t % s.K];
#pragma unroll
                for (int i = 0; i < MAPS; i++)
                    sum[i] += v * ks[t * MAPS + i];
            }
        }
        if (h < H_out && w < W_out)
            for (int i = 0; i < MAPS && m0 + i < s.M; i++)
                y[(((size_t)b * s.M + m0 + i) * H_out + h) * W_out + w] = sum[i];
    }
}

/* for filters whose weights have no room beside the tile */
__global__ void one_place(struct conv_shape s, const float *x, const float *k, float *y)
{
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1, m = blockIdx.y, b = blockIdx.z;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= H_out * W_out)
        return;
    float sum = 0.0f;
    for (int c = 0; c < s.C; c++)
        for (int p = 0; p < s.K; p++)
            for (int q = 0; q < s.K; q++)
                sum += x[(((size_t)b * s.C + c) * s.H + i / W_out + p) * s.W + i % W_out + q] *
                       k[(((size_t)m * s.C + c) * s.K + p) * s.K + q];
    y[((size_t)b * s.M + m) * H_out * W_out + i] = sum;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    const size_t bytes =
        sizeof(float) * ((TX + s->K - 1) * (TY + s->K - 1) + (size_t)MAPS * s->K * s->K);
    if (bytes > 48 * 1024) {
        one_place<<<dim3((H_out * W_out + 127) / 128, s->M, s->B), 128>>>(*s, x, k, y);
        return cudaGetLastError() == cudaSuccess ? 0 : 1;
    }
    places<<<dim3((W_out + TX - 1) / TX, (H_out + TY - 1) / TY, s->B), dim3(TX, TY), bytes>>>(*s, x,
                                                                                              k, y);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
