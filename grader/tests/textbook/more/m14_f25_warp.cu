/* F(2x2,5x5), one block per tile row, 36 threads per tile, one per frequency: each keeps its own
 * sum over all input maps; the inverse transform goes through shared memory. */
#include "conv.h"

#define TILES 4 /* per block */
#define MAPS  8

__device__ const float D[6][6] = {{1, -1.5f, -2, 1.5f, 1, 0}, {0, -1, 0.5f, 2.5f, 1, 0},
                                  {0, 1, -2.5f, 0.5f, 1, 0},  {0, -2, -1, 2, 1, 0},
                                  {0, 0.5f, -1, -0.5f, 1, 0}, {0, 1, -1.5f, -2, 1.5f, 1}};
__device__ const float A[6][2] = {{1, 0}, {1, 1}, {1, -1}, {1, .5f}, {1, -2}, {0, 1}};

__global__ void filter_u(const float *k, float *u, int filters)
{
    const double G[6][5] = {{1, 0, 0, 0, 0},
                            {1 / 3., 1 / 3., 1 / 3., 1 / 3., 1 / 3.},
                            {-1 / 3., 1 / 3., -1 / 3., 1 / 3., -1 / 3.},
                            {-16 / 15., -8 / 15., -4 / 15., -2 / 15., -1 / 15.},
                            {1 / 15., -2 / 15., 4 / 15., -8 / 15., 16 / 15.},
                            {0, 0, 0, 0, 1}};
    const int id = blockIdx.x * blockDim.x + threadIdx.x, f = id % 36, n = id / 36;
    if (n >= filters)
        return;
    double sum = 0; /* the filter's transform in double, since it is computed once */
    for (int p = 0; p < 5; p++)
        for (int q = 0; q < 5; q++)
            sum += G[f / 6][p] * k[n * 25 + p * 5 + q] * G[f % 6][q];
    u[id] = (float)sum;
}

__global__ void tiles36(struct conv_shape s, const float *x, const float *u, float *y)
{
    __shared__ float d[TILES][6][6], half[TILES][6][6], prod[TILES][6][6];
    const int Ho = s.H - 4, Wo = s.W - 4, across = (Wo + 1) / 2, down = (Ho + 1) / 2;
    const int f = threadIdx.x, t = threadIdx.y, tile = blockIdx.x * TILES + t, i = f / 6, j = f % 6;
    const int h = tile / across * 2, w = tile % across * 2, m0 = blockIdx.y * MAPS;
    const float *image = x + (size_t)blockIdx.z * s.C * s.H * s.W;
    float acc[MAPS];
    for (int m = 0; m < MAPS; m++)
        acc[m] = 0;
    for (int c = 0; c < s.C; c++) {
        d[t][i][j] = tile < across * down && h + i < s.H && w + j < s.W
                         ? image[(c * s.H + h + i) * s.W + w + j]
                         : 0;
        __syncthreads();
        float r = 0;
        for (int n = 0; n < 6; n++)
            r += D[i][n] * d[t][n][j];
        half[t][i][j] = r;
        __syncthreads();
        float v = 0;
        for (int n = 0; n < 6; n++)
            v += half[t][i][n] * D[j][n];
        for (int m = 0; m < MAPS; m++)
            if (m0 + m < s.M)
                acc[m] = fmaf(v, u[((m0 + m) * s.C + c) * 36 + f], acc[m]);
        __syncthreads();
    }
    for (int m = 0; m < MAPS && m0 + m < s.M; m++) {
        prod[t][i][j] = acc[m];
        __syncthreads();
        if (f < 4 && tile < across * down && h + f / 2 < Ho && w + f % 2 < Wo) {
            float sum = 0;
            for (int n = 0; n < 6; n++)
                for (int o = 0; o < 6; o++)
                    sum += A[n][f / 2] * prod[t][n][o] * A[o][f % 2];
            y[(((size_t)blockIdx.z * s.M + m0 + m) * Ho + h + f / 2) * Wo + w + f % 2] = sum;
        }
        __syncthreads();
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
    if (s->K != 5)
        return plain(s, x, k, y);
    const int n = s->M * s->C, tiles = ((s->H - 3) / 2) * ((s->W - 3) / 2);
    float *u = (float *)conv_workspace((size_t)n * 36 * sizeof(float));
    if (!u)
        return 1;
    filter_u<<<(n * 36 + 255) / 256, 256>>>(k, u, n);
    tiles36<<<dim3((tiles + TILES - 1) / TILES, (s->M + MAPS - 1) / MAPS, s->B), dim3(36, TILES)>>>(
        *s, x, u, y);
    return cudaGetLastError() != cudaSuccess;
}
