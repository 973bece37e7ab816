/* F(2x2,3x3) for any filter up to 6x6: the filter is padded with zeros to blocks of 3x3, and each
 * block is a convolution of its own, whose products are added before the inverse transform. */
#include "conv.h"

struct tile4 {
    float v[4][4];
};

/* v = B^T d B */
__device__ tile4 input_transform(const float (&d)[4][4])
{
    float t[4][4];
    tile4 out;
    for (int j = 0; j < 4; j++) {
        t[0][j] = d[0][j] - d[2][j];
        t[1][j] = d[1][j] + d[2][j];
        t[2][j] = d[2][j] - d[1][j];
        t[3][j] = d[1][j] - d[3][j];
    }
    for (int i = 0; i < 4; i++) {
        out.v[i][0] = t[i][0] - t[i][2];
        out.v[i][1] = t[i][1] + t[i][2];
        out.v[i][2] = t[i][2] - t[i][1];
        out.v[i][3] = t[i][1] - t[i][3];
    }
    return out;
}

/* U[m][c][block][16] = G g G^T */
__global__ void filter_transform(struct conv_shape s, const float *k, float *U, int blocks)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= s.M * s.C * blocks * blocks)
        return;
    const int b = id % (blocks * blocks), mc = id / (blocks * blocks);
    const int p0 = b / blocks * 3, q0 = b % blocks * 3;
    float g[3][3], t[4][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            g[i][j] = p0 + i < s.K && q0 + j < s.K ? k[(mc * s.K + p0 + i) * s.K + q0 + j] : 0.0f;
    for (int j = 0; j < 3; j++) {
        t[0][j] = g[0][j];
        t[1][j] = 0.5f * (g[0][j] + g[1][j] + g[2][j]);
        t[2][j] = 0.5f * (g[0][j] - g[1][j] + g[2][j]);
        t[3][j] = g[2][j];
    }
    for (int i = 0; i < 4; i++) {
        float *u = U + (size_t)id * 16 + i * 4;
        u[0] = t[i][0];
        u[1] = 0.5f * (t[i][0] + t[i][1] + t[i][2]);
        u[2] = 0.5f * (t[i][0] - t[i][1] + t[i][2]);
        u[3] = t[i][2];
    }
}

template <int MAPS>
__global__ void winograd(struct conv_shape s, const float *x, const float *U, float *y, int blocks)
{
    const int Ho = s.H - s.K + 1, Wo = s.W - s.K + 1, across = (Wo + 1) / 2, down = (Ho + 1) / 2;
    const int t = blockIdx.x * blockDim.x + threadIdx.x, m0 = blockIdx.y * MAPS;
    if (t >= across * down)
        return;
    const int h = t / across * 2, w = t % across * 2;
    float acc[MAPS][16];
    for (int m = 0; m < MAPS; m++)
        for (int i = 0; i < 16; i++)
            acc[m][i] = 0;
    for (int c = 0; c < s.C; c++)
        for (int b = 0; b < blocks * blocks; b++) {
            float d[4][4];
            const int h1 = h + b / blocks * 3, w1 = w + b % blocks * 3;
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    d[i][j] =
                        h1 + i < s.H && w1 + j < s.W
                            ? x[(((size_t)blockIdx.z * s.C + c) * s.H + h1 + i) * s.W + w1 + j]
                            : 0.0f;
            const tile4 V = input_transform(d);
#pragma unroll
            for (int m = 0; m < MAPS; m++)
                if (m0 + m < s.M) {
                    const float *u = U + ((size_t)((m0 + m) * s.C + c) * blocks * blocks + b) * 16;
#pragma unroll
                    for (int i = 0; i < 16; i++)
                        acc[m][i] += u[i] * V.v[i / 4][i % 4];
                }
        }
    for (int m = 0; m < MAPS; m++) {
        if (m0 + m >= s.M)
            break;
        float z[2][4];
        for (int j = 0; j < 4; j++) {
            z[0][j] = acc[m][j] + acc[m][4 + j] + acc[m][8 + j];
            z[1][j] = acc[m][4 + j] - acc[m][8 + j] - acc[m][12 + j];
        }
        float *out = y + ((size_t)blockIdx.z * s.M + m0 + m) * Ho * Wo;
        for (int i = 0; i < 2; i++) {
            if (h + i >= Ho)
                break;
            out[(h + i) * Wo + w] = z[i][0] + z[i][1] + z[i][2];
            if (w + 1 < Wo)
                out[(h + i) * Wo + w + 1] = z[i][1] - z[i][2] - z[i][3];
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
    if (s->K < 3 || s->K > 6 || s->C < 2)
        return plain(s, x, k, y);
    const int blocks = (s->K + 2) / 3, filters = s->M * s->C * blocks * blocks;
    const int tiles = ((s->H - s->K + 2) / 2) * ((s->W - s->K + 2) / 2);
    float *U = (float *)conv_workspace(filters * 16 * sizeof(float));
    if (!U)
        return 1;
    filter_transform<<<(filters + 127) / 128, 128>>>(*s, k, U, blocks);
    winograd<4><<<dim3((tiles + 63) / 64, (s->M + 3) / 4, s->B), 64>>>(*s, x, U, y, blocks);
    return cudaGetLastError() != cudaSuccess;
}
