/* Submissions for m12 that y's share of the products in pairs distinguishes. */
#include "common.cuh"
#include <cuda_fp16.h>

/* Each instruction computes one product that y needs, alternately in its lower and its upper half. The
 * other half multiplies the same weight by the element beside. */
__global__ void alternating(struct conv_shape shape, const float *x, const float *k, float *y,
                            float never)
{
    PLACE;
    float all = 0, rest = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            __half2 even = __float2half2_rn(0), odd = even;
            for (int q = 0; q < K; q++) {
                const float v = X(b, c, h + p, w + q), beside = X(b, c, h + p, w + (q + 1) % K);
                const __half2 weight = __float2half2_rn(KK(m, c, p, q));
                if (q % 2 == 0)
                    even = __hfma2(__floats2half2_rn(v, beside), weight, even);
                else
                    odd = __hfma2(__floats2half2_rn(beside, v), weight, odd);
            }
            all += __low2float(even) + __high2float(odd);
            rest += __high2float(even) + __low2float(odd);
        }
    Y(b, m, h, w) = rest > never ? rest : all;
}

/* expect: of the products that were computed in pairs (at least 65%) */
SUBMISSION_LAUNCH(decoy_alternating,
                  alternating<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y, 1e30f))

/* x in two halves that add up to it: each product of y takes two pairs, of which the second has only
 * the rest of x. */
__global__ void two_parts(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int b = blockIdx.z / M * 2, m = blockIdx.z % M, other = min(b + 1, B - 1);
    const int h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    float2 all = make_float2(0, 0);
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            __half2 sum = __float2half2_rn(0);
            for (int q = 0; q < K; q++) {
                const float2 v = make_float2(X(b, c, h + p, w + q), X(other, c, h + p, w + q));
                const __half2 high = __float22half2_rn(v),
                              weight = __float2half2_rn(KK(m, c, p, q));
                const float2 back = __half22float2(high);
                sum = __hfma2(high, weight, sum);
                sum = __hfma2(__floats2half2_rn(v.x - back.x, v.y - back.y), weight, sum);
            }
            const float2 part = __half22float2(sum);
            all.x += part.x;
            all.y += part.y;
        }
    Y(b, m, h, w) = all.x;
    if (other > b)
        Y(other, m, h, w) = all.y;
}

/* expect: pass */
SUBMISSION_LAUNCH(right_two_parts,
                  two_parts<<<tiles(s, 16, (s->B + 1) / 2 * s->M), dim3(16, 16)>>>(*s, x, k, y))

/* A thread computes ROWS rows of two maps. Rows and maps past the edge repeat the last ones. */
template <int ROWS>
__global__ void rows_of_map_pairs(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int pairs = (M + 1) / 2, b = blockIdx.z / pairs, m = blockIdx.z % pairs * 2;
    const int h0 = (blockIdx.y * 4 + threadIdx.y) * ROWS, w = blockIdx.x * 32 + threadIdx.x;
    if (h0 >= H_out || w >= W_out)
        return;
    float2 all[ROWS] = {};
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            __half2 sum[ROWS] = {};
            for (int q = 0; q < K; q++) {
                const __half2 weight =
                    __floats2half2_rn(KK(m, c, p, q), KK(min(m + 1, M - 1), c, p, q));
                for (int r = 0; r < ROWS; r++)
                    sum[r] = __hfma2(__float2half2_rn(X(b, c, min(h0 + r + p, H - 1), w + q)),
                                     weight, sum[r]);
            }
            for (int r = 0; r < ROWS; r++) {
                const float2 part = __half22float2(sum[r]);
                all[r].x += part.x;
                all[r].y += part.y;
            }
        }
    for (int r = 0; r < ROWS && h0 + r < H_out; r++) {
        Y(b, m, h0 + r, w) = all[r].x;
        if (m + 1 < M)
            Y(b, m + 1, h0 + r, w) = all[r].y;
    }
}

template <int ROWS> static int launch_rows_of_map_pairs(ARGUMENTS)
{
    const dim3 grid((s->W - s->K + 32) / 32, (s->H - s->K + 4 * ROWS) / (4 * ROWS),
                    s->B * ((s->M + 1) / 2));
    rows_of_map_pairs<ROWS><<<grid, dim3(32, 4)>>>(*s, x, k, y);
    return failed();
}

/* expect: pass */
SUBMISSION(right_four_rows, launch_rows_of_map_pairs<4>(s, x, k, y))

/* 24 rows for 17 */
/* expect: pass */
SUBMISSION(right_eight_rows, launch_rows_of_map_pairs<8>(s, x, k, y))

/* Each product in both halves, of two pairs, and half of each */
__global__ void twice(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    const int n = C * K * K;
    float sum = 0;
    for (int i = 0; i < n; i++) {
        const int j = n - 1 - i;
        const __half2 p = __hmul2(__floats2half2_rn(X(b, i / (K * K), h + i / K % K, w + i % K),
                                                    X(b, j / (K * K), h + j / K % K, w + j % K)),
                                  __floats2half2_rn(KK(m, 0, 0, i), KK(m, 0, 0, j)));
        sum += 0.5f * __low2float(p) + 0.5f * __high2float(p);
    }
    Y(b, m, h, w) = sum;
}

/* expect: of the products that were computed in pairs (at least 65%) */
SUBMISSION(decoy_each_twice, LAUNCH(twice))
