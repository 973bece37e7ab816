/* Output maps in groups whose weights fit into constant memory: copy, launch, copy, launch, ... in
 * one stream, alternating between two halves of the array. If one map's weights exceed half of it,
 * the kernel reads them directly. */
#include "conv.h"

#define HALF 8192
__constant__ float W2[2][HALF];

__global__ void part(struct conv_shape s, const float *x, float *y, int m0, int maps, int which)
{
    const int Ho = s.H - s.K + 1, Wo = s.W - s.K + 1;
    const int w = blockIdx.x * 32 + threadIdx.x, h = blockIdx.y * 8 + threadIdx.y;
    const int b = blockIdx.z;
    if (w >= Wo || h >= Ho)
        return;
    for (int i = 0; i < maps; i++) {
        float sum = 0;
        int at = i * s.C * s.K * s.K;
        for (int c = 0; c < s.C; c++)
            for (int p = 0; p < s.K; p++)
                for (int q = 0; q < s.K; q++)
                    sum += x[(((size_t)b * s.C + c) * s.H + h + p) * s.W + w + q] * W2[which][at++];
        y[(((size_t)b * s.M + m0 + i) * Ho + h) * Wo + w] = sum;
    }
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
    const int one = s->C * s->K * s->K, group = HALF / one < 6 ? HALF / one : 6;
    if (!group)
        return plain(s, x, k, y);
    for (int m = 0, turn = 0; m < s->M; m += group, turn ^= 1) {
        const int n = s->M - m < group ? s->M - m : group;
        if (cudaMemcpyToSymbolAsync(W2, k + (size_t)m * one, (size_t)n * one * sizeof(float),
                                    turn * HALF * sizeof(float), cudaMemcpyDeviceToDevice, 0))
            return 1;
        part<<<dim3((s->W - s->K + 32) / 32, (s->H - s->K + 8) / 8, s->B), dim3(32, 8)>>>(
            *s, x, y, m, n, turn);
    }
    return cudaGetLastError() != cudaSuccess;
}
