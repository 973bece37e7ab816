/* F(2x2,5x5) in the three steps of the textbook: transform all of x, multiply a matrix for each of
 * the 36 frequencies, transform back. All steps use global memory, for some images at a time. */
#include "conv.h"

#define IMAGES 20 /* at a time */
#define TILE   16

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

/* v[frequency][c][column]; the columns are the tiles of all images */
__global__ void transform_x(const float *x, float *v, int C, int H, int W, int columns)
{
    const int down = (H - 3) / 2, across = (W - 3) / 2;
    const int n = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
    if (n >= columns)
        return;
    const int w = n % across * 2, h = n / across % down * 2, b = n / across / down;
    float half[6][6];
    for (int j = 0; j < 6; j++) {
        float a[6];
        for (int i = 0; i < 6; i++)
            a[i] = h + i < H && w + j < W ? x[((b * C + c) * H + h + i) * W + w + j] : 0.0f;
        for (int f = 0; f < 6; f++) {
            half[f][j] = 0;
            for (int i = 0; i < 6; i++)
                half[f][j] += to_v[f][i] * a[i];
        }
    }
    for (int f = 0; f < 6; f++)
        for (int g = 0; g < 6; g++) {
            float sum = 0;
            for (int j = 0; j < 6; j++)
                sum += half[f][j] * to_v[g][j];
            v[((f * 6 + g) * C + c) * columns + n] = sum;
        }
}

/* s[frequency] = u[frequency] * v[frequency], by tiles of 16 x 64 */
__global__ void multiply(const float *u, const float *v, float *s, int M, int C, int columns)
{
    __shared__ float left[TILE][TILE], right[TILE][4 * TILE];
    const int tx = threadIdx.x, ty = threadIdx.y, m = blockIdx.y * TILE + ty;
    const int n0 = blockIdx.x * 4 * TILE + tx, f = blockIdx.z;
    float sum[4] = {0, 0, 0, 0};
    for (int c0 = 0; c0 < C; c0 += TILE) {
        left[ty][tx] = m < M && c0 + tx < C ? u[(f * M + m) * C + c0 + tx] : 0.0f;
        for (int j = 0; j < 4; j++)
            right[ty][tx + j * TILE] = c0 + ty < C && n0 + j * TILE < columns
                                           ? v[(f * C + c0 + ty) * columns + n0 + j * TILE]
                                           : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            for (int j = 0; j < 4; j++)
                sum[j] += left[ty][i] * right[i][tx + j * TILE];
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        if (m < M && n0 + j * TILE < columns)
            s[(f * M + m) * columns + n0 + j * TILE] = sum[j];
}

__global__ void transform_back(const float *s, float *y, int M, int H_out, int W_out, int columns)
{
    const int down = (H_out + 1) / 2, across = (W_out + 1) / 2;
    const int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y;
    if (n >= columns)
        return;
    const int w = n % across * 2, h = n / across % down * 2, b = n / across / down;
    float half[2][6];
    for (int g = 0; g < 6; g++)
        for (int o = 0; o < 2; o++) {
            half[o][g] = 0;
            for (int f = 0; f < 6; f++)
                half[o][g] += to_y[o][f] * s[((f * 6 + g) * M + m) * columns + n];
        }
    for (int o = 0; o < 4; o++) {
        float sum = 0;
        for (int g = 0; g < 6; g++)
            sum += half[o / 2][g] * to_y[o % 2][g];
        if (h + o / 2 < H_out && w + o % 2 < W_out)
            y[((b * M + m) * H_out + h + o / 2) * W_out + w + o % 2] = sum;
    }
}

static int fast(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int H_out = s->H - 4, W_out = s->W - 4, filters = s->M * s->C;
    const int tiles = ((H_out + 1) / 2) * ((W_out + 1) / 2);
    const size_t most = (size_t)(s->B < IMAGES ? s->B : IMAGES) * tiles;
    float *u = (float *)conv_workspace((filters + (s->M + s->C) * most) * 36 * sizeof(float));
    if (!u)
        return 1;
    float *v = u + filters * 36, *sums = v + s->C * most * 36;
    transform_filters<<<(filters + 63) / 64, 64>>>(k, u, filters, 1, filters);
    for (int b = 0; b < s->B; b += IMAGES) {
        const int columns = (s->B - b < IMAGES ? s->B - b : IMAGES) * tiles;
        const int blocks = (columns + 127) / 128;
        transform_x<<<dim3(blocks, s->C), 128>>>(x + (size_t)b * s->C * s->H * s->W, v, s->C, s->H,
                                                 s->W, columns);
        multiply<<<dim3((columns + 63) / 64, (s->M + TILE - 1) / TILE, 36), dim3(TILE, TILE)>>>(
            u, v, sums, s->M, s->C, columns);
        transform_back<<<dim3(blocks, s->M), 128>>>(sums, y + (size_t)b * s->M * H_out * W_out,
                                                    s->M, H_out, W_out, columns);
    }
    return 0;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    if (s->K == 5 && s->C > 1) {
        if (fast(s, x, k, y))
            return 1;
    } else {
        const int outputs = (s->H - s->K + 1) * (s->W - s->K + 1);
        direct<<<dim3((outputs + 127) / 128, s->M, s->B), 128>>>(x, k, y, s->M, s->C, s->H, s->W,
                                                                 s->K);
    }
    return cudaGetLastError() != cudaSuccess;
}
