/* m3's tile and halo, for groups of four input channels; groups add to y. */
#include "conv.h"

const int TILE = 16, GROUP = 4;

__global__ void conv_group(const struct conv_shape s, const float *x, const float *k, float *y,
                           int groups, bool staged)
{
    extern __shared__ float sx[];
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1;
    const int across = (W_out + TILE - 1) / TILE, side = TILE + s.K - 1;
    const int h0 = blockIdx.z / across * TILE, w0 = blockIdx.z % across * TILE;
    const int h = h0 + threadIdx.y, w = w0 + threadIdx.x;
    const int m = blockIdx.y, group = blockIdx.x % groups;
    const size_t b = blockIdx.x / groups;
    const int from = group * GROUP, to = min(s.C, from + GROUP);
    const bool mine = h < H_out && w < W_out;
    float sum = 0.0f;
    for (int c = from; c < to; c++) {
        const float *map = x + (b * s.C + c) * s.H * s.W;
        const float *filter = k + ((size_t)m * s.C + c) * s.K * s.K;
        if (staged) {
            for (int i = threadIdx.y * TILE + threadIdx.x; i < side * side; i += TILE * TILE) {
                int r = h0 + i / side, q = w0 + i % side;
                sx[i] = r < s.H && q < s.W ? map[(size_t)r * s.W + q] : 0.0f;
            }
            __syncthreads();
        }
        if (mine)
            for (int p = 0; p < s.K; p++)
                for (int q = 0; q < s.K; q++)
                    sum += filter[p * s.K + q] *
                           (staged ? sx[(threadIdx.y + p) * side + threadIdx.x + q]
                                   : map[(size_t)(h + p) * s.W + w + q]);
        if (staged)
            __syncthreads();
    }
    if (mine)
        atomicAdd(&y[((b * s.M + m) * H_out + h) * W_out + w], sum);
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    const int groups = (s->C + GROUP - 1) / GROUP, side = TILE + s->K - 1;
    const size_t bytes = (size_t)side * side * sizeof(float);
    const bool staged = bytes <= 48 * 1024;
    if (cudaMemset(y, 0, (size_t)s->B * s->M * H_out * W_out * sizeof(float)) != cudaSuccess)
        return 1;
    dim3 grid((unsigned)s->B * groups, s->M,
              ((W_out + TILE - 1) / TILE) * ((H_out + TILE - 1) / TILE));
    conv_group<<<grid, dim3(TILE, TILE), staged ? bytes : 0>>>(*s, x, k, y, groups, staged);
    return cudaGetLastError() != cudaSuccess;
}
