/* One template with the tile's width as its parameter; the tile with the fewest idle lanes is
 * chosen at run time. */
#include "conv.h"

template <int TW, int TH>
__global__ void any_tile(conv_shape s, const float *__restrict__ x, const float *__restrict__ k,
                         float *__restrict__ y)
{
    const int Ho = s.H - s.K + 1, Wo = s.W - s.K + 1, nw = (Wo + TW - 1) / TW;
    const int h = blockIdx.x / nw * TH + threadIdx.y, w = blockIdx.x % nw * TW + threadIdx.x;
    if (h >= Ho || w >= Wo)
        return;
    const float *in = x + (size_t)blockIdx.z * s.C * s.H * s.W + h * s.W + w,
                *f = k + (size_t)blockIdx.y * s.C * s.K * s.K;
    float v = 0;
    for (int c = 0; c < s.C; c++, in += s.H * s.W)
        for (int p = 0; p < s.K; p++)
            for (int q = 0; q < s.K; q++)
                v += in[p * s.W + q] * *f++;
    y[(((size_t)blockIdx.z * s.M + blockIdx.y) * Ho + h) * Wo + w] = v;
}

static int waste(int Ho, int Wo, int tw, int th)
{
    return (Wo + tw - 1) / tw * tw * ((Ho + th - 1) / th * th) - Ho * Wo;
}

template <int TW, int TH>
static void go(const conv_shape *s, const float *x, const float *k, float *y)
{
    const int Ho = s->H - s->K + 1, Wo = s->W - s->K + 1;
    any_tile<TW, TH><<<dim3((Wo + TW - 1) / TW * ((Ho + TH - 1) / TH), s->M, s->B), dim3(TW, TH)>>>(
        *s, x, k, y);
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int Ho = s->H - s->K + 1, Wo = s->W - s->K + 1;
    const int of[3] = {waste(Ho, Wo, 32, 4), waste(Ho, Wo, 16, 16), waste(Ho, Wo, 8, 8)};
    if (of[2] < of[0] && of[2] < of[1])
        go<8, 8>(s, x, k, y);
    else if (of[1] < of[0])
        go<16, 16>(s, x, k, y);
    else
        go<32, 4>(s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
