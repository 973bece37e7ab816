/* One product for all images of a portion: the columns of the matrix are the pixels of all of them;
 * a thread of the unroll kernel writes one element. */
#include "conv.h"

static const int T = 16;

struct dims {
    int C, H, W, K, M, Ho, Wo;
};

__global__ void im2col(dims d, const float *x, float *u, size_t columns)
{
    const size_t column = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    const int row = blockIdx.y;
    if (column >= columns)
        return;
    const int q = row % d.K, p = row / d.K % d.K, c = row / d.K / d.K;
    const int w = column % d.Wo, h = column / d.Wo % d.Ho;
    const size_t b = column / d.Wo / d.Ho;
    u[row * columns + column] = x[((b * d.C + c) * d.H + h + p) * d.W + w + q];
}

__global__ void multiply(dims d, const float *k, const float *u, float *y, size_t columns)
{
    __shared__ float sk[T][T];
    __shared__ float su[T][T];
    const int L = d.C * d.K * d.K;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int m = blockIdx.y * T + ty;
    const size_t column = (size_t)blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int l = 0; l < L; l += T) {
        sk[ty][tx] = (m < d.M && l + tx < L) ? k[m * L + l + tx] : 0.0f;
        su[ty][tx] = (column < columns && l + ty < L) ? u[(l + ty) * columns + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < T; i++)
            sum += sk[ty][i] * su[i][tx];
        __syncthreads();
    }
    if (m < d.M && column < columns) {
        const size_t pixels = d.Ho * d.Wo;
        y[(column / pixels * d.M + m) * pixels + column % pixels] = sum;
    }
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const dims d = {s->C, s->H, s->W, s->K, s->M, s->H - s->K + 1, s->W - s->K + 1};
    const size_t pixels = (size_t)d.Ho * d.Wo, L = (size_t)d.C * d.K * d.K;
    if (L > 65535)
        return 1;
    size_t portion = ((size_t)256 << 20) / (pixels * L * sizeof(float));
    if (portion < 1)
        portion = 1;
    if (portion > (size_t)s->B)
        portion = s->B;
    float *u = (float *)conv_workspace(portion * pixels * L * sizeof(float));
    if (!u)
        return 1;
    for (size_t b = 0; b < (size_t)s->B; b += portion) {
        const size_t images = s->B - b < portion ? s->B - b : portion;
        const size_t columns = images * pixels;
        im2col<<<dim3((columns + 127) / 128, L), 128>>>(d, x + b * d.C * d.H * d.W, u, columns);
        multiply<<<dim3((columns + T - 1) / T, (d.M + T - 1) / T), dim3(T, T)>>>(
            d, k, u, y + b * d.M * pixels, columns);
    }
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
