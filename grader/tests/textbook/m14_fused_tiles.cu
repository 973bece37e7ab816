/* F(2x2,5x5) in one kernel: the 36 threads for a tile's frequencies belong to one block with all
 * its maps. A block transforms 8 tiles of x in shared memory for one input map after the other; a
 * thread sums one frequency of one tile in all maps of its group. */
#include "conv.h"

#define TILES 8
#define MAPS  12

__device__ const float to_y[2][6] = {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 0.5f, -2, 1}};
__device__ const float to_u[6][5] = {{1, 0, 0, 0, 0},
                                     {1.0f / 3, 1.0f / 3, 1.0f / 3, 1.0f / 3, 1.0f / 3},
                                     {-1.0f / 3, 1.0f / 3, -1.0f / 3, 1.0f / 3, -1.0f / 3},
                                     {-16.0f / 15, -8.0f / 15, -4.0f / 15, -2.0f / 15, -1.0f / 15},
                                     {1.0f / 15, -2.0f / 15, 4.0f / 15, -8.0f / 15, 16.0f / 15},
                                     {0, 0, 0, 0, 1}};
__device__ const float to_v[6][6] = {{1, -1.5f, -2, 1.5f, 1, 0}, {0, -1, 0.5f, 2.5f, 1, 0},
                                     {0, 1, -2.5f, 0.5f, 1, 0},  {0, -2, -1, 2, 1, 0},
                                     {0, 0.5f, -1, -0.5f, 1, 0}, {0, 1, -1.5f, -2, 1.5f, 1}};

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

__global__ void transform_filters(const float *k, float *u, int filters, int from_filter,
                                  int from_frequency)
{
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= filters)
        return;
    float half[6][5];
    for (int f = 0; f < 6; f++)
        for (int q = 0; q < 5; q++) {
            float sum = 0;
            for (int p = 0; p < 5; p++)
                sum += to_u[f][p] * k[n * 25 + p * 5 + q];
            half[f][q] = sum;
        }
    for (int f = 0; f < 6; f++)
        for (int g = 0; g < 6; g++) {
            float sum = 0;
            for (int q = 0; q < 5; q++)
                sum += half[f][q] * to_u[g][q];
            u[n * from_filter + (f * 6 + g) * from_frequency] = sum;
        }
}

__global__ void fused(const float *x, const float *u, float *y, int M, int C, int H, int W,
                      int tiles)
{
    __shared__ float in[TILES][36], half[TILES][36], sums[TILES][36];
    const int H_out = H - 4, W_out = W - 4, across = (W_out + 1) / 2;
    const int f = threadIdx.x, t = threadIdx.y, tile = blockIdx.x * TILES + t;
    const int m0 = blockIdx.y * MAPS, b = blockIdx.z, row = f / 6, column = f % 6;
    const int h = tile / across * 2, w = tile % across * 2;
    float sum[MAPS] = {0};
    for (int c = 0; c < C; c++) {
        const bool inside = tile < tiles && h + row < H && w + column < W;
        in[t][f] = inside ? x[(((size_t)b * C + c) * H + h + row) * W + w + column] : 0.0f;
        __syncthreads();
        float v = 0;
        for (int i = 0; i < 6; i++)
            v += to_v[row][i] * in[t][i * 6 + column];
        half[t][f] = v;
        __syncthreads();
        v = 0;
        for (int i = 0; i < 6; i++)
            v += to_v[column][i] * half[t][row * 6 + i];
#pragma unroll
        for (int m = 0; m < MAPS; m++)
            sum[m] += v * u[(min(m0 + m, M - 1) * C + c) * 36 + f];
    }
#pragma unroll
    for (int m = 0; m < MAPS; m++) {
        sums[t][f] = sum[m];
        __syncthreads();
        if (f < 4 && tile < tiles && m0 + m < M && h + f / 2 < H_out && w + f % 2 < W_out) {
            float out = 0;
            for (int i = 0; i < 36; i++)
                out += to_y[f / 2][i / 6] * to_y[f % 2][i % 6] * sums[t][i];
            y[(((size_t)b * M + m0 + m) * H_out + h + f / 2) * W_out + w + f % 2] = out;
        }
        __syncthreads();
    }
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    if (s->K == 5 && s->C > 1) {
        const int tiles = ((s->H - 3) / 2) * ((s->W - 3) / 2), filters = s->M * s->C;
        float *u = (float *)conv_workspace((size_t)filters * 36 * sizeof(float));
        if (!u)
            return 1;
        transform_filters<<<(filters + 63) / 64, 64>>>(k, u, filters, 36, 1);
        fused<<<dim3((tiles + TILES - 1) / TILES, (s->M + MAPS - 1) / MAPS, s->B),
                dim3(36, TILES)>>>(x, u, y, s->M, s->C, s->H, s->W, tiles);
    } else {
        const int outputs = (s->H - s->K + 1) * (s->W - s->K + 1);
        direct<<<dim3((outputs + 127) / 128, s->M, s->B), 128>>>(x, k, y, s->M, s->C, s->H, s->W,
                                                                 s->K);
    }
    return cudaGetLastError() != cudaSuccess;
}
