/* Even and odd elements, in both directions: y0 = (E - O) He + O (He + Ho), y1 = O (He + Ho) + (E' - O) Ho,
 * where E' begins one element later. Five taps for two outputs take 3 + 3 + 2 multiplications, and 8 x 8 instead of
 * 100 for a square of four outputs. */
#include "conv.h"

__global__ void direct(conv_shape s, const float *x, const float *k, float *y)
{
    const int Ho = s.H - s.K + 1, Wo = s.W - s.K + 1, m = blockIdx.y, b = blockIdx.z;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, h = i / Wo, w = i % Wo;
    if (h >= Ho)
        return;
    float sum = 0;
    for (int c = 0; c < s.C; c++)
        for (int p = 0; p < s.K; p++)
            for (int q = 0; q < s.K; q++)
                sum += x[(((size_t)b * s.C + c) * s.H + h + p) * s.W + w + q] *
                       k[(((size_t)m * s.C + c) * s.K + p) * s.K + q];
    y[(((size_t)b * s.M + m) * Ho + h) * Wo + w] = sum;
}

/* Eight numbers of five: the even taps, the sums, the odd taps. */
__device__ void taps_of(const float *k, int step, float *to)
{
    to[0] = k[0], to[1] = k[2 * step], to[2] = k[4 * step];
    to[3] = k[0] + k[step], to[4] = k[2 * step] + k[3 * step], to[5] = k[4 * step];
    to[6] = k[step], to[7] = k[3 * step];
}

/* Eight numbers of six elements, each the factor of the tap in the same place. */
__device__ void elements_of(const float *x, int step, float *to)
{
    to[0] = x[0] - x[step], to[1] = x[2 * step] - x[3 * step], to[2] = x[4 * step] - x[5 * step];
    to[3] = x[step], to[4] = x[3 * step], to[5] = x[5 * step];
    to[6] = x[2 * step] - x[step], to[7] = x[4 * step] - x[3 * step];
}

__global__ void transform(const float *k, float *u, int filters)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float rows[8 * 5];
    if (i >= filters)
        return;
    for (int q = 0; q < 5; q++) {
        float column[8];
        taps_of(k + i * 25 + q, 5, column);
        for (int p = 0; p < 8; p++)
            rows[p * 5 + q] = column[p];
    }
    for (int p = 0; p < 8; p++)
        taps_of(rows + p * 5, 1, u + (i * 8 + p) * 8);
}

__global__ void squares(conv_shape s, const float *x, const float *u, float *y)
{
    const int Ho = s.H - 4, Wo = s.W - 4, across = (Wo + 1) / 2, down = (Ho + 1) / 2;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y, b = blockIdx.z;
    if (i >= across * down)
        return;
    const int h = i / across * 2, w = i % across * 2;
    float sum[2][2] = {{0}};
    for (int c = 0; c < s.C; c++) {
        const float *plane = x + ((size_t)b * s.C + c) * s.H * s.W, *f = u + (m * s.C + c) * 64;
        float window[36], rows[8 * 6];
        for (int j = 0; j < 36; j++)
            window[j] =
                h + j / 6 < s.H && w + j % 6 < s.W ? plane[(h + j / 6) * s.W + w + j % 6] : 0;
        for (int q = 0; q < 6; q++) {
            float column[8];
            elements_of(window + q, 6, column);
            for (int p = 0; p < 8; p++)
                rows[p * 6 + q] = column[p];
        }
        for (int p = 0; p < 8; p++) {
            float v[8], even = 0, both = 0, odd = 0;
            elements_of(rows + p * 6, 1, v);
            for (int j = 0; j < 3; j++)
                even += v[j] * f[p * 8 + j];
            for (int j = 3; j < 6; j++)
                both += v[j] * f[p * 8 + j];
            for (int j = 6; j < 8; j++)
                odd += v[j] * f[p * 8 + j];
            if (p < 6)
                sum[0][0] += even + both, sum[0][1] += both + odd;
            if (p >= 3)
                sum[1][0] += even + both, sum[1][1] += both + odd;
        }
    }
    for (int j = 0; j < 4; j++)
        if (h + j / 2 < Ho && w + j % 2 < Wo)
            y[(((size_t)b * s.M + m) * Ho + h + j / 2) * Wo + w + j % 2] = sum[j / 2][j % 2];
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int Ho = s->H - s->K + 1, Wo = s->W - s->K + 1, filters = s->M * s->C;
    if (s->K != 5) {
        direct<<<dim3((Ho * Wo + 255) / 256, s->M, s->B), 256>>>(*s, x, k, y);
        return cudaGetLastError() != cudaSuccess;
    }
    float *u = (float *)conv_workspace((size_t)filters * 64 * sizeof(float));
    if (!u)
        return 1;
    transform<<<(filters + 63) / 64, 64>>>(k, u, filters);
    const int places = ((Wo + 1) / 2) * ((Ho + 1) / 2);
    squares<<<dim3((places + 127) / 128, s->M, s->B), 128>>>(*s, x, u, y);
    return cudaGetLastError() != cudaSuccess;
}
