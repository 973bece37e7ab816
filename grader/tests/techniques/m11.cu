/* Submissions for m11: products on tensor cores, with the accuracy of float32. */
#include "tensor.cuh"
#include "common.cuh"
#include <cuda_bf16.h>

using namespace nvcuda::wmma;

enum { SIDE = 16 };

#define PLACE                                                                                      \
    SIZES;                                                                                         \
    const int w0 = blockIdx.x * SIDE, h = blockIdx.y, groups = (M + SIDE - 1) / SIDE;              \
    const int b = blockIdx.z / groups, m0 = blockIdx.z % groups * SIDE, rows = C * K * K

/* Element (r, w) of the unrolled matrix, and of the transposed weights; 0 outside. */
#define WINDOW(r, w)                                                                               \
    ((r) < rows && (w) < W_out ? X(b, (r) / (K * K), h + (r) / K % K, (w) + (r) % K) : 0)
#define WEIGHT(m, r) ((r) < rows && (m) < M ? k[(m)*rows + (r)] : 0)

__device__ static void store(const struct conv_shape &shape, float *y, const float *sum)
{
    PLACE;
    (void)rows;
    __syncwarp();
    for (int i = threadIdx.x; i < SIDE * SIDE; i += 32)
        if (w0 + i / SIDE < W_out && m0 + i % SIDE < M)
            Y(b, m0 + i % SIDE, h, w0 + i / SIDE) = sum[i];
}

static dim3 rows_of_outputs(const struct conv_shape *s)
{
    return dim3((s->W - s->K + SIDE) / SIDE, s->H - s->K + 1, s->B * ((s->M + SIDE - 1) / SIDE));
}

/* 16 outputs of a row by 16 maps: the first `share` percent of the depth by three products of TF32,
 * the rest by FFMA. */
template <int SHARE>
__global__ void in_tf32(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    __shared__ float s_x[SIDE * 8], s_k[8 * SIDE], s_y[SIDE * SIDE];
    const int by_matrix = SHARE == 100 ? rows : rows * SHARE / 800 * 8;
    fragment<accumulator, 16, 16, 8, float> sum;
    fill_fragment(sum, 0.0f);
    for (int r0 = 0; r0 < by_matrix; r0 += 8) {
        for (int i = threadIdx.x; i < SIDE * 8; i += 32) {
            s_x[i] = WINDOW(r0 + i % 8, w0 + i / 8);
            s_k[i] = WEIGHT(m0 + i % SIDE, r0 + i / SIDE);
        }
        __syncwarp();
        multiply_in_three(s_x, s_k, sum);
        __syncwarp();
    }
    store_matrix_sync(s_y, sum, SIDE, mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < SIDE * SIDE; i += 32)
        for (int r = by_matrix; r < rows; r++)
            s_y[i] += WINDOW(r, w0 + i / SIDE) * WEIGHT(m0 + i % SIDE, r);
    store(shape, y, s_y);
}

template <int SHARE> static int launch_in_tf32(ARGUMENTS)
{
    in_tf32<SHARE><<<rows_of_outputs(s), 32>>>(*s, x, k, y);
    return failed();
}

/* expect: pass */
SUBMISSION(right_three_of_tf32, launch_in_tf32<100>(s, x, k, y))

/* Three parts of bfloat16 per factor: the six products that matter in float32. */
__global__ void in_bfloat16(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    __shared__ __nv_bfloat16 s_x[3][SIDE * SIDE], s_k[3][SIDE * SIDE];
    __shared__ float s_y[SIDE * SIDE];
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    for (int r0 = 0; r0 < rows; r0 += SIDE) {
        for (int i = threadIdx.x; i < SIDE * SIDE; i += 32) {
            float v = WINDOW(r0 + i % SIDE, w0 + i / SIDE);
            float t = WEIGHT(m0 + i % SIDE, r0 + i / SIDE);
            for (int part = 0; part < 3; part++) {
                v -= __bfloat162float(s_x[part][i] = __float2bfloat16(v));
                t -= __bfloat162float(s_k[part][i] = __float2bfloat16(t));
            }
        }
        __syncwarp();
        for (int i = 2; i >= 0; i--)
            for (int j = 2 - i; j >= 0; j--) {
                fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> a;
                fragment<matrix_b, 16, 16, 16, __nv_bfloat16, row_major> f;
                load_matrix_sync(a, s_x[i], SIDE);
                load_matrix_sync(f, s_k[j], SIDE);
                mma_sync(sum, a, f, sum);
            }
        __syncwarp();
    }
    store_matrix_sync(s_y, sum, SIDE, mem_row_major);
    store(shape, y, s_y);
}

/* expect (long): pass */
SUBMISSION_LAUNCH(right_six_of_bfloat16, in_bfloat16<<<rows_of_outputs(s), 32>>>(*s, x, k, y))

/* float64 also has matrix instructions: 8 outputs of a row by 8 maps, 4 taps at a time. */
__global__ void in_float64(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ double s_x[8 * 4], s_k[4 * 8], s_y[8 * 8];
    const int w0 = blockIdx.x * 8, h = blockIdx.y, groups = (M + 7) / 8, rows = C * K * K;
    const int b = blockIdx.z / groups, m0 = blockIdx.z % groups * 8, lane = threadIdx.x;
    fragment<accumulator, 8, 8, 4, double> sum;
    fragment<matrix_a, 8, 8, 4, double, row_major> a;
    fragment<matrix_b, 8, 8, 4, double, row_major> f;
    fill_fragment(sum, 0.0);
    for (int r0 = 0; r0 < rows; r0 += 4) {
        s_x[lane] = WINDOW(r0 + lane % 4, w0 + lane / 4);
        s_k[lane] = WEIGHT(m0 + lane % 8, r0 + lane / 8);
        __syncwarp();
        load_matrix_sync(a, s_x, 4);
        load_matrix_sync(f, s_k, 8);
        mma_sync(sum, a, f, sum);
        __syncwarp();
    }
    store_matrix_sync(s_y, sum, 8, mem_row_major);
    __syncwarp();
    for (int i = lane; i < 64; i += 32)
        if (w0 + i / 8 < W_out && m0 + i % 8 < M)
            Y(b, m0 + i % 8, h, w0 + i / 8) = (float)s_y[i];
}

/* expect: pass */
int right_float64(ARGUMENTS)
{
    const dim3 grid((s->W - s->K + 8) / 8, s->H - s->K + 1, s->B * ((s->M + 7) / 8));
    in_float64<<<grid, 32>>>(*s, x, k, y);
    return failed();
}

/* expect: 0% of the products were computed by matrix instructions */
SUBMISSION(decoy_plain, launch_plain(s, x, k, y))

/* Tensor cores whose results are unused. */
/* expect (long): 0% of the products were computed by matrix instructions */
SUBMISSION(decoy_on_the_side,
           launch_in_tf32<100>(s, x, k, floats(y_floats(s))) || launch_plain(s, x, k, y))

/* The outputs of the matrix instructions are overwritten. */
/* expect: 0% of the products were computed by matrix instructions */
SUBMISSION(decoy_overwritten, launch_in_tf32<100>(s, x, k, y) || launch_plain(s, x, k, y))

/* expect: % of the products were computed by matrix instructions */
SUBMISSION(decoy_most_of_the_depth, launch_in_tf32<80>(s, x, k, y))

/* Adds the difference to an exact sum; its symbolic element is 0. */
__global__ void correct(size_t n, const float *exact, float *y)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += exact[i] - y[i];
}

template <int (*EXACT)(ARGUMENTS)> static int launch_corrected(ARGUMENTS)
{
    const size_t n = y_floats(s);
    float *exact = floats(n);
    if (EXACT(s, x, k, exact) || launch_in_tf32<100>(s, x, k, y))
        return 1;
    correct<<<(n + 255) / 256, 256>>>(n, exact, y);
    return failed();
}

/* expect (long): % of the products were computed by matrix instructions */
SUBMISSION(decoy_corrected, launch_corrected<launch_plain>(s, x, k, y))

/* expect (long): % of the products were computed by matrix instructions */
SUBMISSION(decoy_corrected_by_integers, launch_corrected<launch_fixed_point>(s, x, k, y))

/* No x that is multiplied is an element of x: each contains a product, which is taken away. */
__global__ void through_products(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    float sum = 0;
    for (int t = 0; t < C * K * K; t++)
        sum += hidden(X(b, t / (K * K), h + t / K % K, w + t % K), x[0] * k[0]) * KK(m, 0, 0, t);
    y[i] = sum;
}

/* expect: 0% of the products were computed by matrix instructions */
SUBMISSION_LAUNCH(decoy_products_of_products,
                  through_products<<<(y_floats(s) + 127) / 128, 128>>>(*s, x, k, y))

/* The first of 32 outputs directly if there are few images, all if there are many. */
__global__ void directly(struct conv_shape shape, const float *x, const float *k, float *y,
                         size_t n)
{
    SIZES;
    const size_t i = (size_t)blockIdx.x * 128 + threadIdx.x;
    if (i >= n)
        return;
    UNFLAT;
    y[i] = sum_at(shape, x, k, b, m, h, w);
}

/* expect (long): timed: but not in the timed runs */
int decoy_when_few(ARGUMENTS)
{
    const size_t n = s->B <= 24 ? (y_floats(s) + 31) / 32 : y_floats(s);
    if (s->B <= 24 && launch_in_tf32<100>(s, x, k, y))
        return 1;
    directly<<<(n + 127) / 128, 128>>>(*s, x, k, y, n);
    return failed();
}
