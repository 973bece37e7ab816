/* All images of a part at once: unrolls in a grid of (columns, rows of the matrix, images), then a
 * product with blockIdx.z as the image, which prefetches the next tile into registers. */
#include "conv.h"

#define T    16
#define PART 25

struct Dims {
    int C, H, W, K, Ho, Wo, R, P;
};

__global__ void expand(Dims d, const float *x, float *u)
{
    const int n = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (n < d.P)
        u[((size_t)blockIdx.z * d.R + r) * d.P + n] =
            x[((size_t)(blockIdx.z * d.C + r / (d.K * d.K)) * d.H + n / d.Wo + r / d.K % d.K) *
                  d.W +
              n % d.Wo + r % d.K];
}

__global__ void product(Dims d, int M, const float *k, const float *u, float *y)
{
    __shared__ float sa[T][T], sb[T][T];
    const int m = blockIdx.y * T + threadIdx.y, n = blockIdx.x * T + threadIdx.x;
    const float *ub = u + (size_t)blockIdx.z * d.R * d.P;
    auto a_at = [&](int r) { return m < M && r < d.R ? k[(size_t)m * d.R + r] : 0.f; };
    auto b_at = [&](int r) { return n < d.P && r < d.R ? ub[(size_t)r * d.P + n] : 0.f; };
    float a = a_at(threadIdx.x), b = b_at(threadIdx.y), sum = 0.f;
    for (int r0 = 0; r0 < d.R; r0 += T) {
        sa[threadIdx.y][threadIdx.x] = a;
        sb[threadIdx.y][threadIdx.x] = b;
        __syncthreads();
        a = a_at(r0 + T + threadIdx.x);
        b = b_at(r0 + T + threadIdx.y);
#pragma unroll
        for (int i = 0; i < T; i++)
            sum += sa[threadIdx.y][i] * sb[i][threadIdx.x];
        __syncthreads();
    }
    if (m < M && n < d.P)
        y[((size_t)blockIdx.z * M + m) * d.P + n] = sum;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    Dims d = {s->C, s->H, s->W, s->K, s->H - s->K + 1, s->W - s->K + 1};
    d.R = s->C * s->K * s->K;
    d.P = d.Ho * d.Wo;
    const int part = s->B < PART ? s->B : PART;
    float *u = (float *)conv_workspace(sizeof(float) * part * d.R * d.P);
    if (u == NULL || d.R > 65535)
        return 1;
    for (int b = 0; b < s->B; b += part) {
        const int now = s->B - b < part ? s->B - b : part;
        expand<<<dim3((d.P + 127) / 128, d.R, now), 128>>>(d, x + (size_t)b * s->C * s->H * s->W,
                                                           u);
        product<<<dim3((d.P + T - 1) / T, (s->M + T - 1) / T, now), dim3(T, T)>>>(
            d, s->M, k, u, y + (size_t)b * s->M * d.P);
    }
    return cudaGetLastError() != cudaSuccess;
}
