/* Right results without the read-only loads or the unrolled loops of m9. */
#include "common.cuh"
#define GO(...) (s->K == 5 ? LAUNCH(__VA_ARGS__) : launch_plain(s, x, k, y))
/* read-only loads in the loop, whose values are multiplied by zero */
__global__ void beside(struct conv_shape shape, const float *x, const float *k, float *y,
                       float zero)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int i = 0; i < 25; i++)
            sum += (((const volatile float *)
                         x)[(((size_t)b * C + c) * H + h + i / 5) * W + w + i % 5] +
                    zero * __ldg(&X(b, c, h, w))) *
                   ((const volatile float *)k)[(m * C + c) * 25 + i];
    Y(b, m, h, w) = sum;
}
/* expect: of the products summed into y take x or k from read-only loads */
int read_only_times_zero(ARGUMENTS)
{
    if (s->K != 5)
        return launch_plain(s, x, k, y);
    return LAUNCH_WITH(beside, *s, x, k, y, 0.0f);
}
/* an unrolled loop over useless data */
__global__ void junk(struct conv_shape shape, const float *__restrict__ x,
                     const float *__restrict__ k, float *__restrict__ y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++) {
#pragma unroll 1
        for (int i = 0; i < 25; i++) {
            float z = __ldg(&KK(m, c, 0, i)), v = __ldg(&X(b, c, h + i / 5, w + i % 5));
            sum += v * z;
            z = z * 0.0f;
#pragma unroll
            for (int j = 0; j < 16; j++)
                sum = fmaf(z, (float)j, sum);
        }
    }
    Y(b, m, h, w) = sum;
}
/* expect: 1.0 products in each round */
SUBMISSION(unrolled_nothing, GO(junk))
/* only one map of four is unrolled */
template <int U> __device__ float channel(const float *x, const float *k, int W)
{
    float sum = 0;
#pragma unroll U
    for (int i = 0; i < 25; i++)
        sum += __ldg(x + i / 5 * W + i % 5) * __ldg(k + i);
    return sum;
}
__global__ void one_of_four(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        sum += c % 4 ? channel<1>(&X(b, c, h, w), &KK(m, c, 0, 0), W)
                     : channel<25>(&X(b, c, h, w), &KK(m, c, 0, 0), W);
    Y(b, m, h, w) = sum;
}
/* expect: products in each round */
SUBMISSION(one_map_of_four, GO(one_of_four))
/* read-only for a quarter of the columns */
__global__ void some_columns(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int i = 0; i < 25; i++) {
            const float *at = &X(b, c, h + i / 5, w + i % 5);
            sum += (i % 5 == 0 ? __ldg(at) : *(const volatile float *)at) *
                   *(const volatile float *)&KK(m, c, 0, i);
        }
    Y(b, m, h, w) = sum;
}
/* expect: 20% of the products summed into y take x or k from read-only loads */
SUBMISSION(a_fifth_read_only, GO(some_columns))
/* computes each product five times, four times uselessly */
__global__ void five_times(struct conv_shape shape, const float *__restrict__ x,
                           const float *__restrict__ k, float *y, float *junk)
{
    PLACE;
    float sum = 0, other = 0;
    for (int c = 0; c < C; c++)
#pragma unroll 1
        for (int i = 0; i < K * K; i++) {
            const float v = __ldg(&X(b, c, h + i / K, w + i % K)), f = __ldg(&KK(m, c, 0, i));
            sum += v * f;
#pragma unroll
            for (int j = 2; j < 6; j++)
                other = other * j + v * f;
        }
    Y(b, m, h, w) = sum;
    if (other == 1234567.0f)
        *junk = other;
}
/* expect: products in each round */
SUBMISSION(products_for_nothing, LAUNCH_WITH(five_times, *s, x, k, y, floats(1)))
/* no loop: each product is one call deeper */
__device__ __noinline__ float deeper(struct conv_shape shape, const float *__restrict__ x,
                                     const float *__restrict__ k, int i, int n)
{
    SIZES;
    const float v = __ldg(&X(0, i / (K * K), i / K % K, i % K)) * __ldg(&k[i]);
    return i + 1 < n ? v + deeper(shape, x, k, i + 1, n) : v;
}
__global__ void recursive(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int b = blockIdx.z / M, m = blockIdx.z % M, h = blockIdx.y * 16 + threadIdx.y,
              w = blockIdx.x * 16 + threadIdx.x;
    if (h < H_out && w < W_out)
        Y(b, m, h, w) = deeper(shape, &X(b, 0, h, w), &KK(m, 0, 0, 0), 0, C * K * K);
}
/* expect: products in each round */
int calls_for_rounds(ARGUMENTS)
{
    if (s->C * s->K * s->K > 300)
        return launch_plain(s, x, k, y);
    return LAUNCH(recursive);
}
/* rolled loops for one map if there are few images, for all maps if there are many */
template <int KT>
__device__ float unrolled_sum(const struct conv_shape &shape, const float *__restrict__ x,
                              const float *__restrict__ k, int b, int m, int h, int w)
{
    SIZES;
    float sum = 0;
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int i = 0; i < KT * KT; i++)
            sum += __ldg(&X(b, c, h + i / KT, w + i % KT)) * __ldg(&KK(m, c, 0, i));
    return sum;
}
__device__ float rolled_sum(const struct conv_shape &shape, const float *__restrict__ x,
                            const float *__restrict__ k, int b, int m, int h, int w)
{
    SIZES;
    float sum = 0;
    for (int c = 0; c < C; c++)
#pragma unroll 1
        for (int p = 0; p < K; p++)
#pragma unroll 1
            for (int q = 0; q < K; q++)
                sum += X(b, c, h + p, w + q) * KK(m, c, p, q);
    return sum;
}
__global__ void partly_rolled(struct conv_shape shape, const float *__restrict__ x,
                              const float *__restrict__ k, float *__restrict__ y, int rolled)
{
    PLACE;
    Y(b, m, h, w) = m < rolled || K != 5 ? rolled_sum(shape, x, k, b, m, h, w)
                                         : unrolled_sum<5>(shape, x, k, b, m, h, w);
}
/* expect: timed: but not in the timed runs */
SUBMISSION(rolled_when_many, LAUNCH_WITH(partly_rolled, *s, x, k, y, s->B > 24 ? s->M : 1))
/* twelve kernels, each of which computes less than a tenth */
template <int PART>
__global__ void rolled_part(struct conv_shape shape, const float *__restrict__ x,
                            const float *__restrict__ k, float *__restrict__ y)
{
    PLACE;
    if (m % 12 == PART)
        Y(b, m, h, w) = rolled_sum(shape, x, k, b, m, h, w);
}
/* expect: 1.0 products in each round */
SUBMISSION_LAUNCH(twelve_kernels, LAUNCH(rolled_part<0>); LAUNCH(rolled_part<1>);
                  LAUNCH(rolled_part<2>); LAUNCH(rolled_part<3>); LAUNCH(rolled_part<4>);
                  LAUNCH(rolled_part<5>); LAUNCH(rolled_part<6>); LAUNCH(rolled_part<7>);
                  LAUNCH(rolled_part<8>); LAUNCH(rolled_part<9>); LAUNCH(rolled_part<10>);
                  LAUNCH(rolled_part<11>))
/* one launch for each product, instead of a loop */
__global__ void one_product(struct conv_shape shape, const float *__restrict__ x,
                            const float *__restrict__ k, float *y, int t)
{
    PLACE;
    Y(b, m, h, w) += __ldg(&X(b, t / (K * K), h + t / K % K, w + t % K)) * __ldg(&KK(m, 0, 0, t));
}
/* expect: 1.0 products in each round */
int launch_per_product(ARGUMENTS)
{
    cudaMemsetAsync(y, 0, y_floats(s) * sizeof *y);
    for (int t = 0; t < s->C * s->K * s->K; t++)
        LAUNCH_WITH(one_product, *s, x, k, y, t);
    return failed();
}
/* one launch for each row of the filter, with five products */
__global__ void one_row(struct conv_shape shape, const float *__restrict__ x,
                        const float *__restrict__ k, float *y, int row)
{
    PLACE;
    float sum = Y(b, m, h, w);
#pragma unroll
    for (int q = 0; q < 5; q++)
        sum += __ldg(&X(b, row / K, h + row % K, w + q)) * __ldg(&KK(m, 0, row, q));
    Y(b, m, h, w) = sum;
}
/* expect: pass */
int right_launch_per_row(ARGUMENTS)
{
    if (s->K != 5)
        return launch_plain(s, x, k, y);
    cudaMemsetAsync(y, 0, y_floats(s) * sizeof *y);
    for (int row = 0; row < s->C * s->K; row++)
        LAUNCH_WITH(one_row, *s, x, k, y, row);
    return failed();
}

/* A loop over a row of the filter that jumps back by an indirect branch */
__device__ float by_indirect_branches(const float *x, const float *k, int n, float sum)
{
    asm volatile("{\n"
                 ".reg .u32 i, to;\n"
                 ".reg .u64 a, b;\n"
                 ".reg .f32 v, f;\n"
                 ".reg .pred more;\n"
                 "mov.u32 i, 0;\n"
                 "mov.u64 a, %1;\n"
                 "mov.u64 b, %2;\n"
                 "LOOP_%=:\n"
                 "ld.global.nc.f32 v, [a];\n"
                 "ld.global.nc.f32 f, [b];\n"
                 "fma.rn.f32 %0, v, f, %0;\n"
                 "add.u64 a, a, 4;\n"
                 "add.u64 b, b, 4;\n"
                 "add.u32 i, i, 1;\n"
                 "setp.lt.u32 more, i, %3;\n"
                 "selp.u32 to, 0, 1, more;\n"
                 "list_%=: .branchtargets LOOP_%=, DONE_%=;\n"
                 "brx.idx to, list_%=;\n"
                 "DONE_%=:\n"
                 "}"
                 : "+f"(sum)
                 : "l"(x), "l"(k), "r"(n));
    return sum;
}
__global__ void indirect(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    float sum = 0;
#pragma unroll 1
    for (int r = 0; r < C * K; r++)
        sum = by_indirect_branches(&X(b, r / K, h + r % K, w), &KK(m, 0, r, 0), K, sum);
    y[i] = sum;
}
/* expect: 1.0 products in each round of the loops around them */
SUBMISSION_LAUNCH(indirect_branches, indirect<<<(y_floats(s) + 255) / 256, 256>>>(*s, x, k, y))
/* no loop at all: a thread for each product, which an atomic operation adds */
__global__ void one_product(struct conv_shape shape, const float *__restrict__ x,
                            const float *__restrict__ k, float *y)
{
    SIZES;
    const size_t n = (size_t)B * M * H_out * W_out,
                 t = (size_t)blockIdx.x * blockDim.x + threadIdx.x, i = t % n, e = t / n;
    UNFLAT;
    if (e < C * K * K)
        atomicAdd(&y[i], X(b, e / (K * K), h + e / K % K, w + e % K) * KK(m, 0, 0, e));
}
/* expect: 1.0 products in each round of the loops around them */
int thread_per_product(ARGUMENTS)
{
    const size_t n = y_floats(s) * s->C * s->K * s->K;
    if (n > 1u << 30)
        return launch_plain(s, x, k, y);
    cudaMemsetAsync(y, 0, y_floats(s) * 4);
    one_product<<<(n + 255) / 256, 256>>>(*s, x, k, y);
    return failed();
}
