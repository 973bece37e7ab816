/* One kernel, one output per thread; of several block shapes it takes the shape with the fewest
 * idle threads in this layer. */
#include "conv.h"

__global__ void conv(const struct conv_shape s, const float *x, const float *k, float *y, int tiles)
{
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1;
    const int h = blockIdx.z / tiles * blockDim.y + threadIdx.y;
    const int w = blockIdx.z % tiles * blockDim.x + threadIdx.x;
    const int m = blockIdx.y;
    const size_t b = blockIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    float sum = 0;
    for (int c = 0; c < s.C; c++) {
        const float *map = x + ((b * s.C + c) * s.H + h) * s.W + w;
        const float *filter = k + ((size_t)m * s.C + c) * s.K * s.K;
        for (int p = 0; p < s.K; p++)
            for (int q = 0; q < s.K; q++)
                sum += map[p * s.W + q] * filter[p * s.K + q];
    }
    y[((b * s.M + m) * H_out + h) * W_out + w] = sum;
}

static size_t threads_for(int H_out, int W_out, dim3 block)
{
    return (size_t)((W_out + block.x - 1) / block.x * block.x) *
           ((H_out + block.y - 1) / block.y * block.y);
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const dim3 blocks[] = {dim3(32, 8), dim3(16, 16), dim3(32, 4), dim3(8, 32), dim3(16, 8)};
    const int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    dim3 best = blocks[0];
    for (const dim3 &block : blocks)
        if (threads_for(H_out, W_out, block) < threads_for(H_out, W_out, best))
            best = block;
    const int tiles = (W_out + best.x - 1) / best.x;
    conv<<<dim3(s->B, s->M, tiles * ((H_out + best.y - 1) / best.y)), best>>>(*s, x, k, y, tiles);
    return cudaGetLastError() != cudaSuccess;
}
