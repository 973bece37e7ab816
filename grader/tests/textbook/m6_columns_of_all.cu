/* Fused; the columns run over the pixels of all images, the channel loop is outermost, and each
 * step takes the K * K rows of one channel. */
#include "conv.h"

#define TM 16
#define TN 32

__global__ void conv_fused(const struct conv_shape s, const float *x, const float *k, float *y)
{
    extern __shared__ float shared[];
    const int KK = s.K * s.K, H_out = s.H - s.K + 1, W_out = s.W - s.K + 1;
    float *sk = shared;           /* [TM][KK] */
    float *sx = shared + TM * KK; /* [KK][TN] */
    const int tx = threadIdx.x, ty = threadIdx.y, id = ty * TN + tx;
    const size_t columns = (size_t)s.B * H_out * W_out;
    const size_t column = (size_t)blockIdx.x * TN + tx;
    const int m = blockIdx.y * TM + ty;
    const int w = column % W_out, h = column / W_out % H_out;
    const size_t b = column / W_out / H_out;
    float sum = 0;
    for (int c = 0; c < s.C; c++) {
        for (int i = id; i < TM * KK; i += TM * TN) {
            int row = blockIdx.y * TM + i / KK;
            sk[i] = row < s.M ? k[((size_t)row * s.C + c) * KK + i % KK] : 0;
        }
        for (int i = ty; i < KK; i += TM)
            sx[i * TN + tx] =
                column < columns ? x[((b * s.C + c) * s.H + h + i / s.K) * s.W + w + i % s.K] : 0;
        __syncthreads();
        for (int i = 0; i < KK; i++)
            sum += sk[ty * KK + i] * sx[i * TN + tx];
        __syncthreads();
    }
    if (column < columns && m < s.M)
        y[((b * s.M + m) * H_out + h) * W_out + w] = sum;
}

__global__ void conv_plain(const struct conv_shape s, const float *x, const float *k, float *y)
{
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1;
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)s.B * s.M * H_out * W_out)
        return;
    const int w = i % W_out, h = i / W_out % H_out, m = i / W_out / H_out % s.M;
    const size_t b = i / W_out / H_out / s.M;
    float sum = 0;
    for (int c = 0; c < s.C; c++)
        for (int p = 0; p < s.K; p++)
            for (int q = 0; q < s.K; q++)
                sum += x[((b * s.C + c) * s.H + h + p) * s.W + w + q] *
                       k[(((size_t)m * s.C + c) * s.K + p) * s.K + q];
    y[i] = sum;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const size_t columns = (size_t)s->B * (s->H - s->K + 1) * (s->W - s->K + 1);
    const size_t bytes = (size_t)(TM + TN) * s->K * s->K * sizeof(float);
    if (bytes <= 48 << 10)
        conv_fused<<<dim3((columns + TN - 1) / TN, (s->M + TM - 1) / TM), dim3(TN, TM), bytes>>>(
            *s, x, k, y);
    else
        conv_plain<<<(columns * s->M + 255) / 256, 256>>>(*s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
