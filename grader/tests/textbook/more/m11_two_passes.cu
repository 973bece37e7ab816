/* Two kernels: one unrolls some images into a matrix of three bfloat16 parts, big, middle and small; the other
 * multiplies with wmma, six of the nine products. Memory for the matrix is taken as it is needed. */
#include "conv.h"
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda::wmma;
typedef __nv_bfloat16 bf16;

#define EDGE 16

/* parts[part][row][column], with rows and columns rounded up to EDGE */
__device__ void put_parts(bf16 *parts, size_t size, size_t at, float v)
{
    for (int part = 0; part < 3; part++) {
        parts[part * size + at] = __float2bfloat16(v);
        v -= __bfloat162float(parts[part * size + at]);
    }
}

__global__ void unroll(conv_shape s, const float *x, bf16 *parts, int images, int R, int N)
{
    const int n = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    const int Wo = s.W - s.K + 1, plane = (s.H - s.K + 1) * Wo, b = n / plane, at = n % plane;
    float v = 0;
    if (n >= N)
        return;
    if (b < images && r < s.C * s.K * s.K)
        v = x[(((size_t)b * s.C + r / (s.K * s.K)) * s.H + at / Wo + r / s.K % s.K) * s.W +
              at % Wo + r % s.K];
    put_parts(parts, (size_t)R * N, (size_t)r * N + n, v);
}

__global__ void split_weights(conv_shape s, const float *k, bf16 *parts, int Mr, int R)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, m = i / R, r = i % R;
    const int taps = s.C * s.K * s.K;
    if (i < Mr * R)
        put_parts(parts, (size_t)Mr * R, i, m < s.M && r < taps ? k[m * taps + r] : 0.0f);
}

__global__ void multiply(conv_shape s, const bf16 *weights, const bf16 *windows, float *y,
                         int images, int Mr, int R, int N)
{
    __shared__ float tile[EDGE * EDGE];
    const int m0 = blockIdx.y * EDGE, n0 = blockIdx.x * EDGE;
    const int plane = (s.H - s.K + 1) * (s.W - s.K + 1);
    fragment<accumulator, EDGE, EDGE, EDGE, float> sum;
    fragment<matrix_a, EDGE, EDGE, EDGE, bf16, row_major> a[3];
    fragment<matrix_b, EDGE, EDGE, EDGE, bf16, row_major> b[3];
    fill_fragment(sum, 0.0f);
    for (int r = 0; r < R; r += EDGE) {
        for (int part = 0; part < 3; part++) {
            load_matrix_sync(a[part], weights + (size_t)part * Mr * R + (size_t)m0 * R + r, R);
            load_matrix_sync(b[part], windows + (size_t)part * R * N + (size_t)r * N + n0, N);
        }
        for (int both = 2; both >= 0; both--)
            for (int part = 0; part <= both; part++)
                mma_sync(sum, a[part], b[both - part], sum);
    }
    store_matrix_sync(tile, sum, EDGE, mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < EDGE * EDGE; i += 32) {
        const int m = m0 + i / EDGE, n = n0 + i % EDGE;
        if (m < s.M && n < images * plane)
            y[((size_t)(n / plane) * s.M + m) * plane + n % plane] = tile[i];
    }
}

static int up(int n)
{
    return (n + EDGE - 1) / EDGE * EDGE;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int plane = (s->H - s->K + 1) * (s->W - s->K + 1), taps = s->C * s->K * s->K;
    const int some = s->B < 25 ? s->B : 25, Mr = up(s->M), R = up(taps), N = up(some * plane);
    bf16 *weights = (bf16 *)conv_workspace(3 * sizeof(bf16) * ((size_t)Mr * R + (size_t)R * N));
    if (!weights)
        return 1;
    bf16 *windows = weights + (size_t)3 * Mr * R;
    split_weights<<<(Mr * R + 255) / 256, 256>>>(*s, k, weights, Mr, R);
    for (int b = 0; b < s->B; b += some) {
        const int images = s->B - b < some ? s->B - b : some;
        unroll<<<dim3((N + 255) / 256, R), 256>>>(*s, x + (size_t)b * s->C * s->H * s->W, windows,
                                                  images, R, N);
        multiply<<<dim3(N / EDGE, Mr / EDGE), 32>>>(*s, weights, windows,
                                                    y + (size_t)b * s->M * plane, images, Mr, R, N);
    }
    return cudaGetLastError() != cudaSuccess;
}
