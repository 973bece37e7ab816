/* Submissions for m14: fewer multiplications than the direct sum. */
#include "common.cuh"

/* F(2,5) at the points 0, 1, -1, 1/2, -2 and infinity, and F(2,3) at 0, 1, -1 and infinity. */
#define FORM_5                                                                                     \
    constexpr int N = 6;                                                                           \
    constexpr float A[2][6] = {{1, 1, 1, 1, 1, 0}, {0, 1, -1, .5f, -2, 1}};                        \
    constexpr float G[6][5] = {{1, 0, 0, 0, 0},                                                    \
                               {1 / 3.f, 1 / 3.f, 1 / 3.f, 1 / 3.f, 1 / 3.f},                      \
                               {-1 / 3.f, 1 / 3.f, -1 / 3.f, 1 / 3.f, -1 / 3.f},                   \
                               {-16 / 15.f, -8 / 15.f, -4 / 15.f, -2 / 15.f, -1 / 15.f},           \
                               {1 / 15.f, -2 / 15.f, 4 / 15.f, -8 / 15.f, 16 / 15.f},              \
                               {0, 0, 0, 0, 1}};                                                   \
    constexpr float D[6][6] = {{1, -1.5f, -2, 1.5f, 1, 0}, {0, -1, .5f, 2.5f, 1, 0},               \
                               {0, 1, -2.5f, .5f, 1, 0},   {0, -2, -1, 2, 1, 0},                   \
                               {0, .5f, -1, -.5f, 1, 0},   {0, 1, -1.5f, -2, 1.5f, 1}};            \
    (void)N, (void)A, (void)G, (void)D

/* A thread computes two columns of outputs in one map, separately for each row of the filter: rows
 * of u and v are made where they are used. SUM: the type of sums, float or double. */
template <class SUM>
__global__ void by_rows(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    FORM_5;
    const int across = (W_out + 1) / 2;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * M * H_out * across)
        return;
    const int w = i % across * 2, h = i / across % H_out, m = i / across / H_out % M,
              b = i / across / H_out / M;
    SUM sum[N] = {};
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            const float *row = &X(b, c, h + p, w), *taps = &KK(m, c, p, 0);
            const float tap[5] = {taps[0], taps[1], taps[2], taps[3], taps[4]};
            const float in[N] = {row[0], row[1], row[2], row[3], row[4], w + 5 < W ? row[5] : 0};
#pragma unroll
            for (int f = 0; f < N; f++) {
                SUM u = 0, v = 0;
#pragma unroll
                for (int j = 0; j < 5; j++)
                    if (G[f][j] != 0)
                        u += (SUM)G[f][j] * tap[j];
#pragma unroll
                for (int j = 0; j < N; j++)
                    if (D[f][j] != 0)
                        v += (SUM)D[f][j] * in[j];
                sum[f] += u * v;
            }
        }
    for (int o = 0; o < 2 && w + o < W_out; o++) {
        SUM out = 0;
#pragma unroll
        for (int f = 0; f < N; f++)
            out += (o ? A[1][f] : A[0][f]) * sum[f];
        Y(b, m, h, w + o) = (float)out;
    }
}

template <class SUM> static int launch_rows(ARGUMENTS)
{
    const size_t n = y_floats(s);
    if (s->K != 5 || s->C == 1)
        return launch_plain(s, x, k, y);
    by_rows<SUM><<<(n + 127) / 128, 128>>>(*s, x, k, y);
    return failed();
}

/* expect: pass */
SUBMISSION(right_rows, launch_rows<float>(s, x, k, y))

/* Sums in double, with constants that were rounded to float. */
/* expect: pass */
SUBMISSION(right_double_sums, launch_rows<double>(s, x, k, y))

/* Both directions, filters transformed into scratch memory first; the layout is [m][c][36]. */
__global__ void filters_of(struct conv_shape shape, const float *k, float *u)
{
    SIZES;
    FORM_5;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M * C)
        return;
    float half[6][5];
    for (int f = 0; f < N; f++)
        for (int q = 0; q < 5; q++) {
            half[f][q] = 0;
            for (int p = 0; p < 5; p++)
                half[f][q] += G[f][p] * k[i * 25 + p * 5 + q];
        }
    for (int f = 0; f < N; f++)
        for (int g = 0; g < N; g++) {
            float sum = 0;
            for (int q = 0; q < 5; q++)
                sum += G[g][q] * half[f][q];
            u[i * 36 + f * 6 + g] = sum;
        }
}

/* Four outputs, of which those in the first rows and columns are stored. */
static __device__ void square_at(struct conv_shape shape, const float *x, const float *u, float *y,
                                 int rows, int columns, int b, int m, int h, int w)
{
    SIZES;
    FORM_5;
    float sum[36] = {}, half[6][6];
    for (int c = 0; c < C; c++) {
        for (int f = 0; f < N; f++)
            for (int j = 0; j < N; j++) {
                half[f][j] = 0;
                for (int l = 0; l < N; l++)
                    if (h + l < H && w + j < W)
                        half[f][j] += D[f][l] * X(b, c, h + l, w + j);
            }
        for (int f = 0; f < N; f++)
            for (int g = 0; g < N; g++) {
                float v = 0;
                for (int j = 0; j < N; j++)
                    v += D[g][j] * half[f][j];
                sum[f * 6 + g] += v * u[(m * C + c) * 36 + f * 6 + g];
            }
    }
    for (int o = 0; o < 4; o++) {
        float out = 0;
        for (int f = 0; f < 36; f++)
            out += A[o / 2][f / 6] * A[o % 2][f % 6] * sum[f];
        if (h + o / 2 < rows && w + o % 2 < columns)
            Y(b, m, h + o / 2, w + o % 2) = out;
    }
}

/* Computes the first rows and columns of the outputs. */
__global__ void by_squares(struct conv_shape shape, const float *x, const float *u, float *y,
                           int rows, int columns)
{
    SIZES;
    const int across = (columns + 1) / 2, down = (rows + 1) / 2;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * M * down * across)
        return;
    square_at(shape, x, u, y, rows, columns, i / across / down / M, i / across / down % M,
              i / across % down * 2, i % across * 2);
}

/* The other outputs. */
__global__ void directly(struct conv_shape shape, const float *x, const float *k, float *y,
                         int rows, int columns)
{
    PLACE;
    if (h >= rows || w >= columns)
        Y(b, m, h, w) = sum_at(shape, x, k, b, m, h, w);
}

static int launch_squares(ARGUMENTS, int rows, int columns)
{
    float *u = floats((size_t)s->M * s->C * 36);
    if (s->K != 5 || s->C == 1)
        return launch_plain(s, x, k, y);
    filters_of<<<(s->M * s->C + 63) / 64, 64>>>(*s, k, u);
    by_squares<<<(y_floats(s) + 127) / 128, 128>>>(*s, x, u, y, rows, columns);
    return rows < s->H - s->K + 1 || columns < s->W - s->K + 1
               ? LAUNCH_WITH(directly, *s, x, k, y, rows, columns)
               : failed();
}

/* expect: pass */
SUBMISSION(right_squares, launch_squares(s, x, k, y, s->H - s->K + 1, s->W - s->K + 1))

/* Squares that would reach past the edges are computed directly. */
/* expect: pass */
SUBMISSION(right_direct_edges,
           launch_squares(s, x, k, y, (s->H - s->K + 1) / 2 * 2, (s->W - s->K + 1) / 2 * 2))

/* expect (long): pass */
SUBMISSION(right_direct_row, launch_squares(s, x, k, y, (s->H - s->K + 1) / 2 * 2, s->W - s->K + 1))

/* More than half of the rows are computed directly. */
/* expect: were stored by threads that multiplied about as often as the direct sum (at most 50%) */
SUBMISSION(decoy_lower_rows, launch_squares(s, x, k, y, (s->H - s->K + 1) / 4 * 2, s->W - s->K + 1))

/* A thread computes two rows: most outputs directly, and so many squares that it multiplies seldom
 * enough for all of them together. */
__global__ void few_squares(struct conv_shape shape, const float *x, const float *k, const float *u,
                            float *y)
{
    SIZES;
    const int down = (H_out + 1) / 2, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * M * down)
        return;
    const int h = i % down * 2, m = i / down % M, b = i / down / M;
    for (int w = 0; w < W_out; w += 2)
        if (w % 16 < 6)
            square_at(shape, x, u, y, H_out, W_out, b, m, h, w);
        else
            for (int o = 0; o < 4; o++)
                if (h + o / 2 < H_out && w + o % 2 < W_out)
                    Y(b, m, h + o / 2, w + o % 2) = sum_at(shape, x, k, b, m, h + o / 2, w + o % 2);
}

/* expect: were stored by threads that multiplied about as often as the direct sum (at most 50%) */
int decoy_few_squares(ARGUMENTS)
{
    float *u = floats((size_t)s->M * s->C * 36);
    if (s->K != 5 || s->C == 1)
        return launch_plain(s, x, k, y);
    filters_of<<<(s->M * s->C + 63) / 64, 64>>>(*s, k, u);
    few_squares<<<(s->B * s->M * (s->H - s->K + 2) / 2 + 31) / 32, 32>>>(*s, x, k, u, y);
    return failed();
}

/* Karatsuba's identity, for any filter: three products for two outputs of two taps,
 *     y0 = (x0 - x1) k0 + x1 (k0 + k1),  y1 = x1 (k0 + k1) - (x1 - x2) k1,
 * in pairs of taps; the last tap of an odd row is multiplied directly. */
__global__ void by_pairs(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int across = (W_out + 1) / 2, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * M * H_out * across)
        return;
    const int w = i % across * 2, h = i / across % H_out, m = i / across / H_out % M,
              b = i / across / H_out / M;
    float left = 0, right = 0, both = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            const float *row = &X(b, c, h + p, w), *tap = &KK(m, c, p, 0);
            int q = 0;
            for (; q + 1 < K; q += 2) {
                const float x0 = row[q], x1 = row[q + 1], x2 = w + q + 2 < W ? row[q + 2] : 0;
                both += x1 * (tap[q] + tap[q + 1]);
                left += (x0 - x1) * tap[q];
                right -= (x1 - x2) * tap[q + 1];
            }
            if (q < K) {
                left += row[q] * tap[q];
                right += w + q + 1 < W ? row[q + 1] * tap[q] : 0;
            }
        }
    Y(b, m, h, w) = both + left;
    if (w + 1 < W_out)
        Y(b, m, h, w + 1) = both + right;
}

/* Three taps of a row by F(2,3), two by the pairs above: (4 + 3) / 10. WASTE: each thread keeps
 * only one of the two outputs. */
template <bool WASTE>
__global__ void by_three_and_two(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int across = WASTE ? W_out : (W_out + 1) / 2, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * M * H_out * across)
        return;
    const int w = i % across * (WASTE ? 1 : 2), h = i / across % H_out, m = i / across / H_out % M,
              b = i / across / H_out / M;
    float left = 0, right = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < 5; p++) {
            const float *tap = &KK(m, c, p, 0);
            float in[6];
            for (int j = 0; j < 6; j++)
                in[j] = w + j < W ? X(b, c, h + p, w + j) : 0;
            /* (If they were fused with both additions, each product would be computed twice.) */
            const float a = (in[0] - in[2]) * tap[0], g = (in[1] - in[3]) * tap[2];
            const float e = __fmul_rn(in[1] + in[2], .5f * (tap[0] + tap[1] + tap[2]));
            const float f = __fmul_rn(in[2] - in[1], .5f * (tap[0] - tap[1] + tap[2]));
            const float both = __fmul_rn(in[4], tap[3] + tap[4]);
            left += a + e + f + both + (in[3] - in[4]) * tap[3];
            right += e - f - g + both - (in[4] - in[5]) * tap[4];
        }
    Y(b, m, h, w) = left;
    if (!WASTE && w + 1 < W_out)
        Y(b, m, h, w + 1) = right;
}

template <bool WASTE> static int launch_three_and_two(ARGUMENTS)
{
    if (s->K != 5)
        return launch_plain(s, x, k, y);
    by_three_and_two<WASTE><<<(y_floats(s) + 127) / 128, 128>>>(*s, x, k, y);
    return failed();
}

/* expect: pass */
SUBMISSION(right_three_and_two, launch_three_and_two<false>(s, x, k, y))

/* expect: 1.00 multiplications of values computed from x and k for each product */
SUBMISSION(decoy_direct, launch_plain(s, x, k, y))

/* Three products instead of four, and the fifth tap: 0.8, plus the tiles past the edge, is too
 * many. */
/* expect: multiplications of values computed from x and k for each product */
SUBMISSION_LAUNCH(decoy_pairs, by_pairs<<<(y_floats(s) + 127) / 128, 128>>>(*s, x, k, y))

/* One output of each pair, from the five products that it needs. */
/* expect (long): multiplications of values computed from x and k for each product */
SUBMISSION(decoy_one_of_two, launch_three_and_two<true>(s, x, k, y))

/* Transforms whose results are unused, then the direct sum. */
/* expect: multiplications of values computed from x and k for each product */
SUBMISSION(decoy_on_the_side,
           launch_three_and_two<false>(s, x, k, floats(y_floats(s))) || launch_plain(s, x, k, y))

/* Winograd's inner product, x0 k0 + x1 k1 = (x0 + k1) (x1 + k0) - x0 x1 - k0 k1, saves half of the
 * multiplications only if x0 x1 and k0 k1 are shared: here each output computes its own. In double
 * precision, since x0 x1 is so much larger than the sum that its rounding would be outside the
 * tolerance in some shapes. */
__global__ void inner(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = C * K * K;
    if (i >= B * M * H_out * W_out)
        return;
    UNFLAT;
    double sum = 0;
    for (int t = 0; t < n; t += 2) {
        const int s = t + 1 < n ? t + 1 : t;
        const double x0 = X(b, t / (K * K), h + t / K % K, w + t % K), k0 = KK(m, 0, 0, t);
        const double x1 = s > t ? X(b, s / (K * K), h + s / K % K, w + s % K) : 0;
        const double k1 = s > t ? KK(m, 0, 0, s) : 0;
        sum += (x0 + k1) * (x1 + k0) - x0 * x1 - k0 * k1;
    }
    Y(b, m, h, w) = (float)sum;
}

/* expect (long): multiplications of values computed from x and k for each product */
SUBMISSION_LAUNCH(decoy_inner_product, inner<<<(y_floats(s) + 127) / 128, 128>>>(*s, x, k, y))

/* The same in 64-bit integers. */
static __device__ long long fixed_of(float v)
{
    return (long long)(v * 0x1p26f);
}

__global__ void inner_integers(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    const int n = C * K * K;
    long long sum = 0;
    for (int t = 0; t < n; t += 2) {
        const int s = t + 1 < n ? t + 1 : t;
        const long long x0 = fixed_of(X(b, t / (K * K), h + t / K % K, w + t % K)),
                        k0 = fixed_of(KK(m, 0, 0, t)),
                        x1 = s > t ? fixed_of(X(b, s / (K * K), h + s / K % K, w + s % K)) : 0,
                        k1 = s > t ? fixed_of(KK(m, 0, 0, s)) : 0;
        sum += (x0 + k1) * (x1 + k0) - x0 * x1 - k0 * k1;
    }
    y[i] = (float)((double)sum * 0x1p-52);
}

/* expect (long): 1.50 multiplications of values computed from x and k for each product */
SUBMISSION_LAUNCH(decoy_inner_integers,
                  inner_integers<<<(y_floats(s) + 127) / 128, 128>>>(*s, x, k, y))

/* expect (long): 1.00 multiplications of values computed from x and k for each product */
SUBMISSION(decoy_integers, launch_fixed_point(s, x, k, y))

/* Integers made of elements that contain a product, which is taken away. */
KERNEL(through_products, long long,
       sum += fixed_of(hidden(X(b, c, h + p, w + q), x[0] * k[0])) * fixed_of(KK(m, c, p, q)),
       (float)((double)sum * 0x1p-52))

/* expect (long): multiplications of values computed from x and k for each product */
SUBMISSION(decoy_products_of_products, LAUNCH(through_products))
