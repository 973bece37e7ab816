/* F(2,5) along rows only: a thread computes two neighbouring outputs in three maps. It transforms
 * six elements of x in registers; the filters' rows were transformed before. */
#include "conv.h"

#define MAPS 3

__device__ const float to_u[6][5] = {{1, 0, 0, 0, 0},
                                     {1.0f / 3, 1.0f / 3, 1.0f / 3, 1.0f / 3, 1.0f / 3},
                                     {-1.0f / 3, 1.0f / 3, -1.0f / 3, 1.0f / 3, -1.0f / 3},
                                     {-16.0f / 15, -8.0f / 15, -4.0f / 15, -2.0f / 15, -1.0f / 15},
                                     {1.0f / 15, -2.0f / 15, 4.0f / 15, -8.0f / 15, 16.0f / 15},
                                     {0, 0, 0, 0, 1}};

__global__ void direct(const float *x, const float *k, float *y, int M, int C, int H, int W, int K)
{
    const int H_out = H - K + 1, W_out = W - K + 1, b = blockIdx.z, m = blockIdx.y;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, h = i / W_out, w = i % W_out;
    if (h >= H_out)
        return;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                sum += x[(((size_t)b * C + c) * H + h + p) * W + w + q] *
                       k[((m * C + c) * K + p) * K + q];
    y[(((size_t)b * M + m) * H_out + h) * W_out + w] = sum;
}

__global__ void transform_rows(const float *k, float *u, int rows)
{
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= rows * 6)
        return;
    float sum = 0;
    for (int q = 0; q < 5; q++)
        sum += to_u[n % 6][q] * k[n / 6 * 5 + q];
    u[n] = sum;
}

__global__ void two_columns(const float *x, const float *u, float *y, int M, int C, int H, int W)
{
    const int H_out = H - 4, W_out = W - 4, pairs = (W_out + 1) / 2;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, h = i / pairs, w = i % pairs * 2;
    const int m0 = blockIdx.y * MAPS, b = blockIdx.z;
    if (h >= H_out)
        return;
    float sum[MAPS][6] = {{0}};
    for (int c = 0; c < C; c++)
        for (int p = 0; p < 5; p++) {
            const float *row = x + (((size_t)b * C + c) * H + h + p) * W + w;
            const float a0 = row[0], a1 = row[1], a2 = row[2], a3 = row[3], a4 = row[4],
                        a5 = w + 5 < W ? row[5] : 0.0f;
            const float v[6] = {
                a0 - 1.5f * a1 - 2 * a2 + 1.5f * a3 + a4, -a1 + 0.5f * a2 + 2.5f * a3 + a4,
                a1 - 2.5f * a2 + 0.5f * a3 + a4,          -2 * a1 - a2 + 2 * a3 + a4,
                0.5f * a1 - a2 - 0.5f * a3 + a4,          a1 - 1.5f * a2 - 2 * a3 + 1.5f * a4 + a5};
            for (int m = 0; m < MAPS; m++)
                for (int f = 0; f < 6; f++)
                    sum[m][f] += v[f] * u[((min(m0 + m, M - 1) * C + c) * 5 + p) * 6 + f];
        }
    for (int m = 0; m < MAPS && m0 + m < M; m++) {
        float *out = y + (((size_t)b * M + m0 + m) * H_out + h) * W_out + w;
        const float *s = sum[m];
        out[0] = s[0] + s[1] + s[2] + s[3] + s[4];
        if (w + 1 < W_out)
            out[1] = s[1] - s[2] + 0.5f * s[3] - 2 * s[4] + s[5];
    }
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    if (s->K != 5) {
        const int outputs = (s->H - s->K + 1) * (s->W - s->K + 1);
        direct<<<dim3((outputs + 127) / 128, s->M, s->B), 128>>>(x, k, y, s->M, s->C, s->H, s->W,
                                                                 s->K);
    } else {
        const int rows = s->M * s->C * 5, places = (s->H - 4) * ((s->W - 4 + 1) / 2);
        float *u = (float *)conv_workspace(rows * 6 * sizeof(float));
        if (!u)
            return 1;
        transform_rows<<<(rows * 6 + 127) / 128, 128>>>(k, u, rows);
        two_columns<<<dim3((places + 127) / 128, (s->M + MAPS - 1) / MAPS, s->B), 128>>>(
            x, u, y, s->M, s->C, s->H, s->W);
    }
    return cudaGetLastError() != cudaSuccess;
}
