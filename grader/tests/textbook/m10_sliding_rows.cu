/* A thread computes 2 maps x 5 rows of one column: it loads a column of x once for all rows. The
 * filter is processed in parts of 5 x 5. The tile has more rows than the layer of the proof. */
#include "conv.h"

#define P  5
#define R  5
#define MM 2

__global__ void conv(conv_shape s, const float *x, const float *k, float *y)
{
    __shared__ float sx[4 * R + P - 1][32 + P - 1], sk[P][P][MM];
    int ho = s.H - s.K + 1, wo = s.W - s.K + 1, groups = (s.M + MM - 1) / MM;
    int b = blockIdx.x / groups, m0 = blockIdx.x % groups * MM, w0 = blockIdx.y * 32,
        h0 = blockIdx.z * 4 * R;
    int tx = threadIdx.x, ty = threadIdx.y, id = ty * 32 + tx;
    float sum[MM][R] = {};
    for (int c = 0; c < s.C; c++)
        for (int p0 = 0; p0 < s.K; p0 += P)
            for (int q0 = 0; q0 < s.K; q0 += P) {
                __syncthreads();
                for (int i = id; i < (4 * R + P - 1) * (32 + P - 1); i += 128) {
                    int r = i / (32 + P - 1), t = i % (32 + P - 1), h = h0 + p0 + r,
                        w = w0 + q0 + t;
                    sx[r][t] =
                        h < s.H && w < s.W ? x[(((size_t)b * s.C + c) * s.H + h) * s.W + w] : 0.f;
                }
                if (id < P * P * MM) {
                    int m = id % MM, e = id / MM, p = p0 + e / P, q = q0 + e % P;
                    sk[e / P][e % P][m] = m0 + m < s.M && p < s.K && q < s.K
                                              ? k[(((m0 + m) * s.C + c) * s.K + p) * s.K + q]
                                              : 0.f;
                }
                __syncthreads();
#pragma unroll
                for (int q = 0; q < P; q++) {
                    float col[R + P - 1];
#pragma unroll
                    for (int r = 0; r < R + P - 1; r++)
                        col[r] = sx[ty * R + r][tx + q];
#pragma unroll
                    for (int p = 0; p < P; p++)
#pragma unroll
                        for (int m = 0; m < MM; m++) {
                            float f = sk[p][q][m];
#pragma unroll
                            for (int r = 0; r < R; r++)
                                sum[m][r] += col[r + p] * f;
                        }
                }
            }
#pragma unroll
    for (int m = 0; m < MM; m++)
#pragma unroll
        for (int r = 0; r < R; r++) {
            int h = h0 + ty * R + r, w = w0 + tx;
            if (m0 + m < s.M && h < ho && w < wo)
                y[(((size_t)b * s.M + m0 + m) * ho + h) * wo + w] = sum[m][r];
        }
}

int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    int ho = s->H - s->K + 1, wo = s->W - s->K + 1;
    conv<<<dim3(s->B * ((s->M + MM - 1) / MM), (wo + 31) / 32, (ho + 4 * R - 1) / (4 * R)),
           dim3(32, 4)>>>(*s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
