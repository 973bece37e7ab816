// F(4x4,3x3) with the filter cut into 3x3 blocks (four for 5x5): V and U for the 36 frequencies go
// to the workspace, then follow a batched product with "channels" (c, block) and the inverse
// transform.
#include "conv.h"

static const int IMAGES = 10;

__device__ inline void bt(const float d[6], float r[6])
{
    r[0] = 4 * d[0] - 5 * d[2] + d[4];
    r[1] = -4 * d[1] - 4 * d[2] + d[3] + d[4];
    r[2] = 4 * d[1] - 4 * d[2] - d[3] + d[4];
    r[3] = -2 * d[1] - d[2] + 2 * d[3] + d[4];
    r[4] = 2 * d[1] - d[2] - 2 * d[3] + d[4];
    r[5] = 4 * d[1] - 5 * d[3] + d[5];
}

__device__ inline void gt(const float g[3], float r[6])
{
    r[0] = g[0] / 4;
    r[1] = -(g[0] + g[1] + g[2]) / 6;
    r[2] = -(g[0] - g[1] + g[2]) / 6;
    r[3] = g[0] / 24 + g[1] / 12 + g[2] / 6;
    r[4] = g[0] / 24 - g[1] / 12 + g[2] / 6;
    r[5] = g[2];
}

__device__ inline void at(const float s[6], float r[4])
{
    const float a = s[1] + s[2], b = s[1] - s[2], c = s[3] + s[4], d = s[3] - s[4];
    r[0] = s[0] + a + c;
    r[1] = b + 2 * d;
    r[2] = a + 4 * c;
    r[3] = b + 8 * d + s[5];
}

// U[36][M][C*n*n]
__global__ void make_u(conv_shape s, const float *k, float *U, int n)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x, inner = s.C * n * n;
    if (id >= s.M * inner)
        return;
    const int m = id / inner, c = id % inner / (n * n), p0 = id % (n * n) / n * 3, q0 = id % n * 3;
    float t[6][3], col[3], r[6];
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++)
            col[i] = p0 + i < s.K && q0 + j < s.K ? k[((m * s.C + c) * s.K + p0 + i) * s.K + q0 + j]
                                                  : 0.f;
        gt(col, r);
        for (int i = 0; i < 6; i++)
            t[i][j] = r[i];
    }
    for (int i = 0; i < 6; i++) {
        gt(t[i], r);
        for (int j = 0; j < 6; j++)
            U[(size_t)(i * 6 + j) * s.M * inner + id] = r[j];
    }
}

// V[36][C*n*n][P]
__global__ void make_v(conv_shape s, const float *x, float *V, int n, int P, int across, int down)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x, ch = blockIdx.y, inner = s.C * n * n;
    if (t >= P)
        return;
    const int b = t / (across * down), h = t / across % down * 4 + ch % (n * n) / n * 3,
              w = t % across * 4 + ch % n * 3, c = ch / (n * n);
    float z[6][6], r[6], d[6];
    for (int j = 0; j < 6; j++) {
        for (int i = 0; i < 6; i++)
            d[i] = h + i < s.H && w + j < s.W
                       ? x[(((size_t)b * s.C + c) * s.H + h + i) * s.W + w + j]
                       : 0.f;
        bt(d, r);
        for (int i = 0; i < 6; i++)
            z[i][j] = r[i];
    }
    for (int i = 0; i < 6; i++) {
        bt(z[i], r);
        for (int j = 0; j < 6; j++)
            V[((size_t)(i * 6 + j) * inner + ch) * P + t] = r[j];
    }
}

// Y[36][M][P] = U V; a thread computes 4 maps of one column
__global__ void batched(const float *__restrict__ U, const float *__restrict__ V, float *Y, int M,
                        int inner, int P)
{
    __shared__ float us[4][32];
    const int t = blockIdx.x * blockDim.x + threadIdx.x, m0 = blockIdx.y * 4, f = blockIdx.z;
    float acc[4] = {0.f, 0.f, 0.f, 0.f};
    for (int i0 = 0; i0 < inner; i0 += 32) {
        const int i = threadIdx.x % 32, m = threadIdx.x / 32;
        us[m][i] =
            m0 + m < M && i0 + i < inner ? U[((size_t)f * M + m0 + m) * inner + i0 + i] : 0.f;
        __syncthreads();
        if (t < P)
            for (int j = 0; j < 32 && i0 + j < inner; j++) {
                const float v = V[((size_t)f * inner + i0 + j) * P + t];
#pragma unroll
                for (int m = 0; m < 4; m++)
                    acc[m] += us[m][j] * v;
            }
        __syncthreads();
    }
    if (t < P)
        for (int m = 0; m < 4 && m0 + m < M; m++)
            Y[((size_t)f * M + m0 + m) * P + t] = acc[m];
}

__global__ void back(conv_shape s, const float *Y, float *y, int P, int across, int down)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y, Ho = s.H - s.K + 1,
              Wo = s.W - s.K + 1;
    if (t >= P)
        return;
    const int b = t / (across * down), h = t / across % down * 4, w = t % across * 4;
    float z[4][6], col[6], r[4];
    for (int j = 0; j < 6; j++) {
        for (int i = 0; i < 6; i++)
            col[i] = Y[((size_t)(i * 6 + j) * s.M + m) * P + t];
        at(col, r);
        for (int i = 0; i < 4; i++)
            z[i][j] = r[i];
    }
    for (int i = 0; i < 4; i++) {
        at(z[i], r);
        for (int j = 0; j < 4; j++)
            if (h + i < Ho && w + j < Wo)
                y[(((size_t)b * s.M + m) * Ho + h + i) * Wo + w + j] = r[j];
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
    if (s->K < 3 || s->K > 6 || s->C < 4)
        return plain(s, x, k, y);
    const int n = (s->K + 2) / 3, inner = s->C * n * n, Ho = s->H - s->K + 1, Wo = s->W - s->K + 1;
    const int across = (Wo + 3) / 4, down = (Ho + 3) / 4;
    const size_t most = (size_t)(s->B < IMAGES ? s->B : IMAGES) * across * down;
    float *U = (float *)conv_workspace(36 * sizeof(float) *
                                       ((size_t)s->M * inner + (inner + s->M) * most));
    if (!U)
        return 1;
    float *V = U + (size_t)36 * s->M * inner, *Y = V + 36 * inner * most;
    make_u<<<(s->M * inner + 63) / 64, 64>>>(*s, k, U, n);
    for (int b = 0; b < s->B; b += IMAGES) {
        const int P = (s->B - b < IMAGES ? s->B - b : IMAGES) * across * down;
        make_v<<<dim3((P + 127) / 128, inner), 128>>>(*s, x + (size_t)b * s->C * s->H * s->W, V, n,
                                                      P, across, down);
        batched<<<dim3((P + 127) / 128, (s->M + 3) / 4, 36), 128>>>(U, V, Y, s->M, inner, P);
        back<<<dim3((P + 127) / 128, s->M), 128>>>(*s, Y, y + (size_t)b * s->M * Ho * Wo, P, across,
                                                   down);
    }
    return cudaGetLastError() != cudaSuccess;
}
