/* Fused; one-dimensional blocks of 128 threads, each with one column and four maps in registers,
 * and a running index into x instead of divisions. A block has 16 maps and 32 columns. */
#include "conv.h"

#define MAPS  16
#define COLS  32
#define DEPTH 8

__global__ void implicit_gemm(struct conv_shape s, const float *x, const float *k, float *y)
{
    __shared__ float w_tile[DEPTH][MAPS];
    __shared__ float u_tile[DEPTH][COLS];
    const int t = threadIdx.x, col = t % COLS, group = t / COLS;
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1, inner = s.C * s.K * s.K;
    const long total = (long)s.B * H_out * W_out, n = (long)blockIdx.x * COLS + col;
    const int m0 = blockIdx.y * MAPS;
    const long b = n / (H_out * W_out);
    const int pixel = (int)(n % (H_out * W_out));
    const float *window = x + b * s.C * s.H * s.W + (long)(pixel / W_out) * s.W + pixel % W_out;
    /* the tap of the window whose row this thread loads next */
    int c = 0, p = 0, q = 0;
    for (int i = 0; i < group; i++)
        if (++q == s.K) {
            q = 0;
            if (++p == s.K) {
                p = 0;
                c++;
            }
        }
    float acc[4] = {0, 0, 0, 0};
    for (int base = 0; base < inner; base += DEPTH) {
        for (int row = group; row < DEPTH; row += 4) {
            u_tile[row][col] =
                n < total && base + row < inner ? window[((long)c * s.H + p) * s.W + q] : 0;
            for (int i = 0; i < 4; i++)
                if (++q == s.K) {
                    q = 0;
                    if (++p == s.K) {
                        p = 0;
                        c++;
                    }
                }
        }
        const int row = t % DEPTH, m = m0 + t / DEPTH;
        w_tile[row][t / DEPTH] =
            m < s.M && base + row < inner ? k[(long)m * inner + base + row] : 0;
        __syncthreads();
        for (int r = 0; r < DEPTH; r++)
            for (int j = 0; j < 4; j++)
                acc[j] += w_tile[r][4 * group + j] * u_tile[r][col];
        __syncthreads();
    }
    for (int j = 0; j < 4; j++) {
        const int m = m0 + 4 * group + j;
        if (n < total && m < s.M)
            y[(b * s.M + m) * H_out * W_out + pixel] = acc[j];
    }
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const long total = (long)s->B * (s->H - s->K + 1) * (s->W - s->K + 1);
    implicit_gemm<<<dim3((total + COLS - 1) / COLS, (s->M + MAPS - 1) / MAPS), 128>>>(*s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
