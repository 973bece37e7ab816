/* The fused product of m6 in blocks of 64 x 64 with 256 threads, each of which computes 4 x 4
 * outputs from registers: the classic register-tiled SGEMM, with the unrolled matrix found in x. */
#include "conv.h"

#define BLK   64
#define DEPTH 16

__global__ void gemm_4x4(struct conv_shape s, const float *x, const float *k, float *y)
{
    __shared__ float a[DEPTH][BLK], b[DEPTH][BLK];
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1, rows = s.C * s.K * s.K;
    const size_t columns = (size_t)s.B * H_out * W_out, n0 = (size_t)blockIdx.x * BLK;
    const int m0 = blockIdx.y * BLK, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float sum[4][4] = {{0}};
    for (int r0 = 0; r0 < rows; r0 += DEPTH) {
        for (int i = threadIdx.x; i < DEPTH * BLK; i += 256) {
            const int m = m0 + i / DEPTH, r = r0 + i % DEPTH;
            a[i % DEPTH][i / DEPTH] = m < s.M && r < rows ? k[(size_t)m * rows + r] : 0;
        }
        for (int i = threadIdx.x; i < DEPTH * BLK; i += 256) {
            const size_t n = n0 + i % BLK;
            const int r = r0 + i / BLK, c = r / (s.K * s.K), p = r / s.K % s.K, q = r % s.K;
            const size_t image = n / W_out / H_out;
            const int h = (int)(n / W_out % H_out), w = (int)(n % W_out);
            b[i / BLK][i % BLK] =
                n < columns && r < rows ? x[((image * s.C + c) * s.H + h + p) * s.W + w + q] : 0;
        }
        __syncthreads();
        for (int r = 0; r < DEPTH; r++) {
            float ra[4], rb[4];
            for (int i = 0; i < 4; i++)
                ra[i] = a[r][ty * 4 + i];
            for (int j = 0; j < 4; j++)
                rb[j] = b[r][tx + 16 * j];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += ra[i] * rb[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const int m = m0 + ty * 4 + i;
            const size_t n = n0 + tx + 16 * j, image = n / W_out / H_out;
            if (m < s.M && n < columns)
                y[(image * s.M + m) * H_out * W_out + n % ((size_t)H_out * W_out)] = sum[i][j];
        }
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const size_t columns = (size_t)s->B * (s->H - s->K + 1) * (s->W - s->K + 1);
    dim3 grid((unsigned)((columns + BLK - 1) / BLK), (s->M + BLK - 1) / BLK);
    gemm_4x4<<<grid, 256>>>(*s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
