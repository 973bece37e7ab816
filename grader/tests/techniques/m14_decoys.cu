/* Fewer multiplications only if there are few images, and multiplications by matrices, for m14. */
#include "common.cuh"

#include <mma.h>

using namespace nvcuda;

/* F(2,5) in rows, and some maps directly: few maps if there are few images, all if there are many. */
#define A_(o, f)                                                                                   \
    (o == 0   ? (f < 5 ? 1.f : 0.f)                                                                \
     : f == 0 ? 0.f                                                                                \
     : f == 1 ? 1.f                                                                                \
     : f == 2 ? -1.f                                                                               \
     : f == 3 ? .5f                                                                                \
     : f == 4 ? -2.f                                                                               \
              : 1.f)
__global__ void rows_some(struct conv_shape shape, const float *x, const float *k, float *y,
                          int direct)
{
    SIZES;
    const float G[6][5] = {{1, 0, 0, 0, 0},
                           {1 / 3.f, 1 / 3.f, 1 / 3.f, 1 / 3.f, 1 / 3.f},
                           {-1 / 3.f, 1 / 3.f, -1 / 3.f, 1 / 3.f, -1 / 3.f},
                           {-16 / 15.f, -8 / 15.f, -4 / 15.f, -2 / 15.f, -1 / 15.f},
                           {1 / 15.f, -2 / 15.f, 4 / 15.f, -8 / 15.f, 16 / 15.f},
                           {0, 0, 0, 0, 1}};
    const float D[6][6] = {{1, -1.5f, -2, 1.5f, 1, 0}, {0, -1, .5f, 2.5f, 1, 0},
                           {0, 1, -2.5f, .5f, 1, 0},   {0, -2, -1, 2, 1, 0},
                           {0, .5f, -1, -.5f, 1, 0},   {0, 1, -1.5f, -2, 1.5f, 1}};
    const int across = (W_out + 1) / 2, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * M * H_out * across)
        return;
    const int w = i % across * 2, h = i / across % H_out, m = i / across / H_out % M,
              b = i / across / H_out / M;
    if (m < direct) {
        for (int o = 0; o < 2 && w + o < W_out; o++)
            Y(b, m, h, w + o) = sum_at(shape, x, k, b, m, h, w + o);
        return;
    }
    float sum[6] = {};
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            float tap[5], in[6];
            for (int j = 0; j < 5; j++)
                tap[j] = KK(m, c, p, j);
            for (int j = 0; j < 6; j++)
                in[j] = w + j < W ? X(b, c, h + p, w + j) : 0.f;
#pragma unroll
            for (int f = 0; f < 6; f++) {
                float u = 0, v = 0;
#pragma unroll
                for (int j = 0; j < 5; j++)
                    u += G[f][j] * tap[j];
#pragma unroll
                for (int j = 0; j < 6; j++)
                    v += D[f][j] * in[j];
                sum[f] += u * v;
            }
        }
    float l = 0, r = 0;
#pragma unroll
    for (int f = 0; f < 6; f++) {
        l += A_(0, f) * sum[f];
        r += A_(1, f) * sum[f];
    }
    Y(b, m, h, w) = l;
    if (w + 1 < W_out)
        Y(b, m, h, w + 1) = r;
}
template <int DIV> static int direct_when_many(ARGUMENTS)
{
    if (s->K != 5 || s->C == 1)
        return launch_plain(s, x, k, y);
    rows_some<<<(y_floats(s) + 127) / 128, 128>>>(*s, x, k, y, s->B > 24 ? s->M : s->M / DIV);
    return failed();
}
/* expect: timed: but not in the timed runs */
SUBMISSION(few_24th, direct_when_many<24>(s, x, k, y))
/* expect: timed: but not in the timed runs */
SUBMISSION(few_4th, direct_when_many<4>(s, x, k, y))
/* expect: timed: but not in the timed runs */
SUBMISSION(few_3rd, direct_when_many<3>(s, x, k, y))
/* The direct sum, by matrix instructions in float64. */
__global__ void by_matrices(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ double a[8][4], u[4][8], sums[8][8];
    const int n = C * K * K, lane = threadIdx.x, m0 = blockIdx.y * 8;
    const size_t cols = (size_t)B * H_out * W_out, col0 = (size_t)blockIdx.x * 8;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
    wmma::fill_fragment(sum, 0.0);
    for (int r0 = 0; r0 < n; r0 += 4) {
        wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> fb;
        const int m = m0 + lane / 4, ra = r0 + lane % 4, ru = r0 + lane / 8;
        const size_t col = col0 + lane % 8;
        a[lane / 4][lane % 4] = m < M && ra < n ? k[m * n + ra] : 0;
        u[lane / 8][lane % 8] = col < cols && ru < n
                                    ? X(col / (H_out * W_out), ru / (K * K),
                                        col / W_out % H_out + ru / K % K, col % W_out + ru % K)
                                    : 0;
        __syncwarp();
        wmma::load_matrix_sync(fa, &a[0][0], 4);
        wmma::load_matrix_sync(fb, &u[0][0], 8);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(&sums[0][0], sum, 8, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < 64; i += 32) {
        const size_t col = col0 + i % 8;
        if (m0 + i / 8 < M && col < cols)
            Y(col / (H_out * W_out), m0 + i / 8, 0, col % (H_out * W_out)) = sums[i / 8][i % 8];
    }
}
/* expect: 1.00 multiplications of values computed from x and k */
SUBMISSION_LAUNCH(direct_by_matrices,
                  by_matrices<<<dim3((y_floats(s) / s->M + 7) / 8, (s->M + 7) / 8), 32>>>(*s, x, k,
                                                                                          y))
