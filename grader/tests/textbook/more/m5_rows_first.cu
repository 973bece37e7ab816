/* The unrolled matrix has a row per window (position by depth), for several images; the product
 * computes y^T with tiles of both matrices and 32 x 8 threads, four positions each. */
#include "conv.h"

__global__ void im2row(conv_shape s, const float *__restrict__ x, float *u, int images)
{
    const int Wo = s.W - s.K + 1, P = (s.H - s.K + 1) * Wo, R = s.C * s.K * s.K;
    const size_t n = (size_t)images * P * R;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        const int r = i % R, q = r % s.K, p = r / s.K % s.K, c = r / (s.K * s.K);
        const size_t row = i / R;
        const int pos = row % P;
        u[i] = x[((row / P * s.C + c) * s.H + pos / Wo + p) * s.W + pos % Wo + q];
    }
}

__global__ void gemm_nt(const float *u, const float *k, float *y, size_t rows, int M, int R, int P)
{
    __shared__ float us[32][33], ks[32][33]; /* [position or map][depth], one extra column */
    const size_t row0 = blockIdx.x * (size_t)32;
    const int m0 = blockIdx.y * 32, tx = threadIdx.x, ty = threadIdx.y;
    float acc[4] = {0, 0, 0, 0};
    for (int d = 0; d < R; d += 32) {
        for (int j = ty; j < 32; j += 8) {
            us[j][tx] = row0 + j < rows && d + tx < R ? u[(row0 + j) * R + d + tx] : 0;
            ks[j][tx] = m0 + j < M && d + tx < R ? k[(size_t)(m0 + j) * R + d + tx] : 0;
        }
        __syncthreads();
        for (int i = 0; i < 32; i++)
            for (int j = 0; j < 4; j++)
                acc[j] += us[tx][i] * ks[ty + 8 * j][i];
        __syncthreads();
    }
    const size_t row = row0 + tx;
    for (int j = 0; j < 4; j++)
        if (row < rows && m0 + ty + 8 * j < M)
            y[(row / P * M + m0 + ty + 8 * j) * P + row % P] = acc[j];
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int P = (s->H - s->K + 1) * (s->W - s->K + 1), R = s->C * s->K * s->K;
    int images = s->B < 50 ? s->B : 50;
    float *u;
    while (!(u = (float *)conv_workspace((size_t)images * P * R * sizeof(float))) && images > 1)
        images /= 2;
    if (!u)
        return -1;
    for (int b = 0; b < s->B; b += images) {
        const int now = s->B - b < images ? s->B - b : images;
        const size_t rows = (size_t)now * P;
        im2row<<<1056, 256>>>(*s, x + (size_t)b * s->C * s->H * s->W, u, now);
        gemm_nt<<<dim3((rows + 31) / 32, (s->M + 31) / 32), dim3(32, 8)>>>(
            u, k, y + (size_t)b * s->M * P, rows, s->M, R, P);
    }
    return cudaGetLastError() == cudaSuccess ? 0 : -1;
}
