/* A block moves down a strip of 32 columns: K rows of all input maps are in shared memory as a
 * ring, and each new row of y loads one row per map. The threads are (column, map). */
#include "conv.h"

#define COLS 32
#define MAPS 4

__global__ void ring(conv_shape s, const float *x, const float *k, float *y)
{
    extern __shared__ float rows[]; /* [C][K][COLS + K - 1] */
    const int Ho = s.H - s.K + 1, Wo = s.W - s.K + 1, width = COLS + s.K - 1;
    const int w0 = blockIdx.x * COLS, b = blockIdx.z, tid = threadIdx.y * COLS + threadIdx.x;
    auto load = [&](int h) {
        for (int i = tid; i < s.C * width; i += COLS * MAPS) {
            const int c = i / width, j = i % width;
            rows[(c * s.K + h % s.K) * width + j] =
                w0 + j < s.W ? x[(((size_t)b * s.C + c) * s.H + h) * s.W + w0 + j] : 0.f;
        }
    };
    for (int h = 0; h < s.K - 1; h++)
        load(h);
    for (int h = 0; h < Ho; h++) {
        load(h + s.K - 1);
        __syncthreads();
        for (int m = threadIdx.y; m < s.M; m += MAPS) {
            float sum = 0.f;
            for (int c = 0; c < s.C; c++)
                for (int p = 0; p < s.K; p++) {
                    const float *row = rows + (c * s.K + (h + p) % s.K) * width + threadIdx.x;
                    for (int q = 0; q < s.K; q++)
                        sum += row[q] * k[((m * s.C + c) * s.K + p) * s.K + q];
                }
            if (w0 + threadIdx.x < Wo)
                y[(((size_t)b * s.M + m) * Ho + h) * Wo + w0 + threadIdx.x] = sum;
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
    const size_t bytes = (size_t)s->C * s->K * (COLS + s->K - 1) * sizeof(float);
    if (bytes > 48 * 1024)
        return plain(s, x, k, y);
    ring<<<dim3((s->W - s->K + COLS) / COLS, 1, s->B), dim3(COLS, MAPS), bytes>>>(*s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
