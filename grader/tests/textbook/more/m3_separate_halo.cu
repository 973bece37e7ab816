/* The halo in three pieces: the tile itself, then the columns to its right, the rows below it and the corner,
 * each loaded by the threads nearest to it. Static shared memory for filters up to 9. */
#include "conv.h"

#define T      16
#define MOST_K 9

__device__ float at(const float *map, int h, int w, int H, int W)
{
    return h < H && w < W ? map[h * W + w] : 0.0f;
}

__global__ void halo3(const float *__restrict__ x, const float *__restrict__ k, float *y,
                      const conv_shape s)
{
    __shared__ float in[T + MOST_K - 1][T + MOST_K - 1 + 1], f[MOST_K][MOST_K];
    const int Ho = s.H - s.K + 1, Wo = s.W - s.K + 1, e = s.K - 1;
    const int tx = threadIdx.x, ty = threadIdx.y, w = blockIdx.x * T + tx, h = blockIdx.y * T + ty;
    const int b = blockIdx.z / s.M, m = blockIdx.z % s.M;
    float out = 0.0f;
    for (int c = 0; c < s.C; c++) {
        const float *map = x + ((size_t)b * s.C + c) * s.H * s.W;
        in[ty][tx] = at(map, h, w, s.H, s.W);
        if (tx < e)
            in[ty][tx + T] = at(map, h, w + T, s.H, s.W);
        if (ty < e)
            in[ty + T][tx] = at(map, h + T, w, s.H, s.W);
        if (tx < e && ty < e)
            in[ty + T][tx + T] = at(map, h + T, w + T, s.H, s.W);
        if (tx < s.K && ty < s.K)
            f[ty][tx] = k[(((size_t)m * s.C + c) * s.K + ty) * s.K + tx];
        __syncthreads();
        if (h < Ho && w < Wo)
            for (int p = 0; p < s.K; p++)
                for (int q = 0; q < s.K; q++)
                    out += in[ty + p][tx + q] * f[p][q];
        __syncthreads();
    }
    if (h < Ho && w < Wo)
        y[(((size_t)b * s.M + m) * Ho + h) * Wo + w] = out;
}

__global__ void direct(struct conv_shape s, const float *x, const float *k, float *y)
{
    const int Ho = s.H - s.K + 1, Wo = s.W - s.K + 1;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, h = i / Wo, w = i % Wo;
    if (h >= Ho)
        return;
    float sum = 0;
    for (int c = 0; c < s.C; c++)
        for (int p = 0; p < s.K; p++)
            for (int q = 0; q < s.K; q++)
                sum += x[(((size_t)blockIdx.z * s.C + c) * s.H + h + p) * s.W + w + q] *
                       k[((blockIdx.y * s.C + c) * s.K + p) * s.K + q];
    y[(((size_t)blockIdx.z * s.M + blockIdx.y) * Ho + h) * Wo + w] = sum;
}

static int plain(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int outputs = (s->H - s->K + 1) * (s->W - s->K + 1);
    direct<<<dim3((outputs + 127) / 128, s->M, s->B), 128>>>(*s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    if (s->K > MOST_K || s->B * s->M > 65535)
        return plain(s, x, k, y);
    halo3<<<dim3((s->W - s->K + T) / T, (s->H - s->K + T) / T, s->B * s->M), dim3(T, T)>>>(x, k, y,
                                                                                           *s);
    return cudaGetLastError() != cudaSuccess;
}
