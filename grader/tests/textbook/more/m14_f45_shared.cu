/* F(4,5) along rows: matrices in __constant__ memory, applied by loops. A block transforms the rows
 * of x once into shared memory; each thread owns four outputs of a map. */
#include "conv.h"

#define NT 8
__constant__ float BT[8][8] = {
    {-1, 0, 5.25f, 0, -5.25f, 0, 1, 0},        {0, 1, 1, -4.25f, -4.25f, 1, 1, 0},
    {0, -1, 1, 4.25f, -4.25f, -1, 1, 0},       {0, 0.5f, 0.25f, -2.5f, -1.25f, 2, 1, 0},
    {0, -0.5f, 0.25f, 2.5f, -1.25f, -2, 1, 0}, {0, 2, 4, -2.5f, -5, 0.5f, 1, 0},
    {0, -2, 4, 2.5f, -5, -0.5f, 1, 0},         {0, -1, 0, 5.25f, 0, -5.25f, 0, 1}};
__constant__ float AT[4][8] = {{1, 1, 1, 1, 1, 1, 1, 0},
                               {0, 1, -1, 2, -2, 0.5f, -0.5f, 0},
                               {0, 1, 1, 4, 4, 0.25f, 0.25f, 0},
                               {0, 1, -1, 8, -8, 0.125f, -0.125f, 1}};

/* G contains powers of the points, divided by the products of their differences. */
__device__ float row_of_G(int f, const float *g)
{
    const float at[7] = {0, 1, -1, 2, -2, 0.5f, -0.5f};
    if (f == 7)
        return g[4];
    float scale = 1, v = 0;
    for (int j = 0; j < 7; j++)
        if (j != f)
            scale *= at[f] - at[j];
    for (int q = 4; q >= 0; q--)
        v = v * at[f] + g[q];
    return v / scale;
}

__global__ void filters(const float *k, float *u, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * NT)
        u[i] = row_of_G(i % NT, k + i / NT * 5);
}

/* grid (row of y, image), block (quads, maps of a group) */
__global__ void f45(struct conv_shape s, const float *x, const float *u, float *y, int quads)
{
    extern __shared__ float v[]; /* [5 rows][quads][8] */
    const int Ho = s.H - 4, Wo = s.W - 4, h = blockIdx.x, b = blockIdx.y;
    const int me = threadIdx.y * blockDim.x + threadIdx.x, all = blockDim.x * blockDim.y;
    for (int m0 = 0; m0 < s.M; m0 += blockDim.y) {
        const int m = m0 + threadIdx.y;
        for (int t = threadIdx.x; t < (quads + blockDim.x - 1) / blockDim.x * blockDim.x;
             t += blockDim.x) {
            float sum[NT] = {0};
            for (int c = 0; c < s.C; c++) {
                __syncthreads();
                for (int i = me; i < 5 * quads; i += all) {
                    const float *row = x + (((size_t)b * s.C + c) * s.H + h + i / quads) * s.W;
                    const int w = i % quads * 4;
                    float d[NT];
                    for (int j = 0; j < NT; j++)
                        d[j] = w + j < s.W ? row[w + j] : 0.0f;
                    for (int f = 0; f < NT; f++) {
                        float r = 0;
                        for (int j = 0; j < NT; j++)
                            r += BT[f][j] * d[j];
                        v[i * NT + f] = r;
                    }
                }
                __syncthreads();
                if (m < s.M && t < quads)
                    for (int p = 0; p < 5; p++)
                        for (int f = 0; f < NT; f++)
                            sum[f] +=
                                v[(p * quads + t) * NT + f] * u[((m * s.C + c) * 5 + p) * NT + f];
            }
            if (m < s.M && t < quads)
                for (int o = 0; o < 4 && t * 4 + o < Wo; o++) {
                    float r = 0;
                    for (int f = 0; f < NT; f++)
                        r += AT[o][f] * sum[f];
                    y[(((size_t)b * s.M + m) * Ho + h) * Wo + t * 4 + o] = r;
                }
        }
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
    if (s->K != 5 || s->C == 1 || s->B > 65535)
        return plain(s, x, k, y);
    const int rows = s->M * s->C * 5, quads = (s->W - 4 + 3) / 4;
    float *u = (float *)conv_workspace(rows * NT * sizeof(float));
    if (!u || quads > 256)
        return 1;
    filters<<<(rows * NT + 255) / 256, 256>>>(k, u, rows);
    f45<<<dim3(s->H - 4, s->B), dim3(quads < 32 ? quads : 32, 8), 5 * quads * NT * sizeof(float)>>>(
        *s, x, u, y, quads);
    return cudaGetLastError() != cudaSuccess;
}
