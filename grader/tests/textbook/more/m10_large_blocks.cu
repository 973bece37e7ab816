/* Register tiling with large blocks: 128 x 128 outputs of one image. Small maps leave most of a block without outputs, so
 * that the kernel multiplies far more often than needed. */
#include "conv.h"

#define BLK   128
#define DEPTH 16

__global__ void large_blocks(struct conv_shape s, const float *x, const float *k, float *y)
{
    __shared__ float a[DEPTH][BLK], b[DEPTH][BLK];
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1, rows = s.C * s.K * s.K;
    const int columns = H_out * W_out, n0 = blockIdx.x * BLK;
    const size_t image = blockIdx.z;
    const int m0 = blockIdx.y * BLK, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float sum[8][8] = {{0}};
    for (int r0 = 0; r0 < rows; r0 += DEPTH) {
        for (int i = threadIdx.x; i < DEPTH * BLK; i += 256) {
            const int m = m0 + i / DEPTH, r = r0 + i % DEPTH;
            a[i % DEPTH][i / DEPTH] = m < s.M && r < rows ? k[(size_t)m * rows + r] : 0;
        }
        for (int i = threadIdx.x; i < DEPTH * BLK; i += 256) {
            const int n = n0 + i % BLK;
            const int r = r0 + i / BLK, c = r / (s.K * s.K), p = r / s.K % s.K, q = r % s.K;
            const int h = n / W_out, w = n % W_out;
            b[i / BLK][i % BLK] =
                n < columns && r < rows ? x[((image * s.C + c) * s.H + h + p) * s.W + w + q] : 0;
        }
        __syncthreads();
        for (int r = 0; r < DEPTH; r++) {
            float ra[8], rb[8];
            for (int i = 0; i < 8; i++)
                ra[i] = a[r][ty * 8 + i];
            for (int j = 0; j < 8; j++)
                rb[j] = b[r][tx + 16 * j];
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 8; j++)
                    sum[i][j] += ra[i] * rb[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            const int m = m0 + ty * 8 + i, n = n0 + tx + 16 * j;
            if (m < s.M && n < columns)
                y[(image * s.M + m) * columns + n] = sum[i][j];
        }
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int columns = (s->H - s->K + 1) * (s->W - s->K + 1);
    for (int b = 0; b < s->B; b += 60000) {
        const int images = s->B - b < 60000 ? s->B - b : 60000;
        large_blocks<<<dim3((columns + BLK - 1) / BLK, (s->M + BLK - 1) / BLK, images), 256>>>(
            *s, x + (size_t)b * s->C * s->H * s->W, k, y + (size_t)b * s->M * columns);
    }
    return cudaGetLastError() != cudaSuccess;
}
