/* F(2,5) down the columns of a tile in shared memory: a thread makes two outputs, one below the other, of all
 * input maps; transforms of the filters wait in global memory. */
#include "conv.h"

#define TX 32
#define TY 8 /* pairs of rows */

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

__device__ const float G[6][5] = {{1, 0, 0, 0, 0},
                                  {1.f / 3, 1.f / 3, 1.f / 3, 1.f / 3, 1.f / 3},
                                  {-1.f / 3, 1.f / 3, -1.f / 3, 1.f / 3, -1.f / 3},
                                  {-16.f / 15, -8.f / 15, -4.f / 15, -2.f / 15, -1.f / 15},
                                  {1.f / 15, -2.f / 15, 4.f / 15, -8.f / 15, 16.f / 15},
                                  {0, 0, 0, 0, 1}};

/* u[filter][q][frequency] */
__global__ void filter_columns(const float *k, float *u, int columns)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, q = i % 5;
    if (i >= columns)
        return;
    for (int f = 0; f < 6; f++) {
        float sum = 0;
        for (int p = 0; p < 5; p++)
            sum += G[f][p] * k[i / 5 * 25 + p * 5 + q];
        u[i * 6 + f] = sum;
    }
}

__global__ void pairs_of_rows(conv_shape s, const float *x, const float *u, float *y)
{
    __shared__ float tile[2 * TY + 4][TX + 4];
    const int Ho = s.H - 4, Wo = s.W - 4, across = (Wo + TX - 1) / TX;
    const int h0 = blockIdx.x / across * 2 * TY, w0 = blockIdx.x % across * TX;
    const int tx = threadIdx.x, ty = threadIdx.y, m = blockIdx.y, b = blockIdx.z;
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0;
    for (int c = 0; c < s.C; c++) {
        for (int i = ty * TX + tx; i < (2 * TY + 4) * (TX + 4); i += TX * TY) {
            const int r = h0 + i / (TX + 4), q = w0 + i % (TX + 4);
            tile[i / (TX + 4)][i % (TX + 4)] =
                r < s.H && q < s.W ? x[(((size_t)b * s.C + c) * s.H + r) * s.W + q] : 0;
        }
        __syncthreads();
        for (int q = 0; q < 5; q++) {
            const float *f = u + ((m * s.C + c) * 5 + q) * 6;
            const float a0 = tile[2 * ty][tx + q], a1 = tile[2 * ty + 1][tx + q];
            const float a2 = tile[2 * ty + 2][tx + q], a3 = tile[2 * ty + 3][tx + q];
            const float a4 = tile[2 * ty + 4][tx + q], a5 = tile[2 * ty + 5][tx + q];
            s0 += f[0] * (a0 - 1.5f * a1 - 2 * a2 + 1.5f * a3 + a4);
            s1 += f[1] * (-a1 + 0.5f * a2 + 2.5f * a3 + a4);
            s2 += f[2] * (a1 - 2.5f * a2 + 0.5f * a3 + a4);
            s3 += f[3] * (-2 * a1 - a2 + 2 * a3 + a4);
            s4 += f[4] * (0.5f * a1 - a2 - 0.5f * a3 + a4);
            s5 += f[5] * (a1 - 1.5f * a2 - 2 * a3 + 1.5f * a4 + a5);
        }
        __syncthreads();
    }
    const int h = h0 + 2 * ty, w = w0 + tx;
    float *out = y + (((size_t)b * s.M + m) * Ho + h) * Wo + w;
    if (w < Wo && h < Ho)
        out[0] = s0 + s1 + s2 + s3 + s4;
    if (w < Wo && h + 1 < Ho)
        out[Wo] = s1 - s2 + 0.5f * s3 - 2 * s4 + s5;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int Ho = s->H - s->K + 1, Wo = s->W - s->K + 1, columns = s->M * s->C * 5;
    if (s->K == 5) {
        float *u = (float *)conv_workspace((size_t)columns * 6 * sizeof(float));
        if (u == NULL)
            return 1;
        filter_columns<<<(columns + 127) / 128, 128>>>(k, u, columns);
        dim3 grid((Wo + TX - 1) / TX * ((Ho + 2 * TY - 1) / (2 * TY)), s->M, s->B);
        pairs_of_rows<<<grid, dim3(TX, TY)>>>(*s, x, u, y);
    } else {
        direct<<<dim3((Ho * Wo + 127) / 128, s->M, s->B), 128>>>(*s, x, k, y);
    }
    return cudaGetLastError() != cudaSuccess;
}
