/* One __constant__ struct with sizes and weights, filled through its address (cudaGetSymbolAddress). */
#include "conv.h"
#include <stddef.h>

struct Params {
    conv_shape s;
    int Ho, Wo;
    float k[16000];
};
__constant__ Params P;

__global__ void conv_params(const float *x, float *y, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int w = i % P.Wo, h = i / P.Wo % P.Ho, m = i / P.Wo / P.Ho % P.s.M;
    const size_t b = i / P.Wo / P.Ho / P.s.M;
    float a = 0.f;
    for (int c = 0; c < P.s.C; ++c)
        for (int p = 0; p < P.s.K; ++p)
            for (int q = 0; q < P.s.K; ++q)
                a += x[((b * P.s.C + c) * P.s.H + h + p) * P.s.W + w + q] *
                     P.k[((m * P.s.C + c) * P.s.K + p) * P.s.K + q];
    y[i] = a;
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
    const size_t weights = (size_t)s->M * s->C * s->K * s->K;
    if (weights > sizeof P.k / sizeof *P.k)
        return plain(s, x, k, y);
    char *to;
    int sizes[2] = {s->H - s->K + 1, s->W - s->K + 1};
    if (cudaGetSymbolAddress((void **)&to, P))
        return 1;
    cudaMemcpyAsync(to, s, sizeof *s, cudaMemcpyHostToDevice);
    cudaMemcpyAsync(to + offsetof(Params, Ho), sizes, sizeof sizes, cudaMemcpyHostToDevice);
    cudaMemcpyAsync(to + offsetof(Params, k), k, weights * sizeof(float), cudaMemcpyDeviceToDevice);
    const size_t n = (size_t)s->B * s->M * sizes[0] * sizes[1];
    conv_params<<<(n + 255) / 256, 256>>>(x, y, n);
    return cudaGetLastError() != cudaSuccess;
}
