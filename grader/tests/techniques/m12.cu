/* Submissions for m12: products of halves, two at a time. */
#include "common.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

/* A thread computes the same output of two images. PAIR: of halves or of bfloat16. */
template <class PAIR, class TO_PAIR, class TO_FLOATS>
__device__ void two_images(const struct conv_shape &shape, const float *x, const float *k, float *y,
                           TO_PAIR to_pair, TO_FLOATS to_floats)
{
    SIZES;
    const int b = blockIdx.z / M * 2, m = blockIdx.z % M, other = min(b + 1, B - 1);
    const int h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    float2 all = make_float2(0, 0);
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            PAIR sum = to_pair(0, 0);
            for (int q = 0; q < K; q++)
                sum = __hfma2(to_pair(X(b, c, h + p, w + q), X(other, c, h + p, w + q)),
                              to_pair(KK(m, c, p, q), KK(m, c, p, q)), sum);
            const float2 part = to_floats(sum);
            all.x += part.x;
            all.y += part.y;
        }
    Y(b, m, h, w) = all.x;
    if (other > b)
        Y(other, m, h, w) = all.y;
}

__global__ void in_halves(struct conv_shape shape, const float *x, const float *k, float *y)
{
    two_images<__half2>(
        shape, x, k, y, [](float a, float b) { return __floats2half2_rn(a, b); },
        [](__half2 v) { return __half22float2(v); });
}

__global__ void in_bfloat16(struct conv_shape shape, const float *x, const float *k, float *y)
{
    two_images<__nv_bfloat162>(
        shape, x, k, y,
        [](float a, float b) {
            return __halves2bfloat162(__float2bfloat16_rz(a), __float2bfloat16_rz(b));
        },
        [](__nv_bfloat162 v) { return __bfloat1622float2(v); });
}

/* expect: pass */
SUBMISSION_LAUNCH(right_images,
                  in_halves<<<tiles(s, 16, (s->B + 1) / 2 * s->M), dim3(16, 16)>>>(*s, x, k, y))

/* Sums stay halves from the first product to the last, as in a dot product over the depth. */
__global__ void whole_sum(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int b = blockIdx.z / M, m = blockIdx.z % M, rows = C * K * K;
    const int h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    const auto element = [&](int r) { return X(b, r / (K * K), h + r / K % K, w + r % K); };
    __half2 sum = __float2half2_rn(0);
    for (int r = 0; r < rows; r += 2) {
        const bool two = r + 1 < rows;
        const __half2 v = __floats2half2_rn(element(r), two ? element(r + 1) : 0);
        sum += v * __floats2half2_rn(k[m * rows + r], two ? k[m * rows + r + 1] : 0);
    }
    Y(b, m, h, w) = __half2float(__low2half(sum) + __high2half(sum));
}

/* expect: pass */
SUBMISSION(right_dot_product, LAUNCH(whole_sum))

/* One product of halves on tensor cores: 16 outputs of a row by 16 maps, 16 taps at a time. */
__global__ void by_matrices(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    using namespace nvcuda::wmma;
    __shared__ __half s_x[256], s_k[256];
    __shared__ float s_y[256];
    const int w0 = blockIdx.x * 16, h = blockIdx.y, groups = (M + 15) / 16;
    const int b = blockIdx.z / groups, m0 = blockIdx.z % groups * 16, rows = C * K * K;
    fragment<accumulator, 16, 16, 16, float> sum;
    fragment<matrix_a, 16, 16, 16, __half, row_major> a;
    fragment<matrix_b, 16, 16, 16, __half, row_major> f;
    fill_fragment(sum, 0.0f);
    for (int r0 = 0; r0 < rows; r0 += 16) {
        for (int i = threadIdx.x; i < 256; i += 32) {
            const int r = r0 + i % 16, w = w0 + i / 16, m = m0 + i % 16, t = r0 + i / 16;
            s_x[i] = r < rows && w < W_out ? X(b, r / (K * K), h + r / K % K, w + r % K) : 0;
            s_k[i] = t < rows && m < M ? k[m * rows + t] : 0;
        }
        __syncwarp();
        load_matrix_sync(a, s_x, 16);
        load_matrix_sync(f, s_k, 16);
        mma_sync(sum, a, f, sum);
        __syncwarp();
    }
    store_matrix_sync(s_y, sum, 16, mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32)
        if (w0 + i / 16 < W_out && m0 + i % 16 < M)
            Y(b, m0 + i % 16, h, w0 + i / 16) = s_y[i];
}

/* expect: pass */
int right_tensor_cores(ARGUMENTS)
{
    const int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    by_matrices<<<dim3((W_out + 15) / 16, H_out, s->B * ((s->M + 15) / 16)), 32>>>(*s, x, k, y);
    return failed();
}

/* expect: 0% of the products were computed in half precision */
SUBMISSION(decoy_float, launch_plain(s, x, k, y))

/* Halves in memory with products of float32; or halves one at a time. */
template <bool SCALAR>
__global__ void storage_only(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++) {
                const __half v = X(b, c, h + p, w + q), t = KK(m, c, p, q);
                sum += SCALAR ? __half2float(__hmul(v, t)) : __half2float(v) * __half2float(t);
            }
    Y(b, m, h, w) = sum;
}

/* expect: 0% of the products were computed in half precision */
SUBMISSION_LAUNCH(decoy_storage_only,
                  storage_only<false><<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y))

/* expect: 0% of the products were computed in half precision */
SUBMISSION_LAUNCH(decoy_one_at_a_time,
                  storage_only<true><<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y))

/* Pairs whose results are unused. */
/* expect (long): 0% of the products were computed in half precision */
int decoy_on_the_side(ARGUMENTS)
{
    in_halves<<<tiles(s, 16, (s->B + 1) / 2 * s->M), dim3(16, 16)>>>(*s, x, k, floats(y_floats(s)));
    return launch_plain(s, x, k, y);
}

/* bfloat16 has 8 bits: with truncated factors, products exceed the tolerance. */
/* expect: wrong */
SUBMISSION_LAUNCH(wrong_bfloat16,
                  in_bfloat16<<<tiles(s, 16, (s->B + 1) / 2 * s->M), dim3(16, 16)>>>(*s, x, k, y))

/* Both halves of a pair compute the same product. */
__global__ void same_twice(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float all = 0;
    for (int c = 0; c < C; c++) {
        __half2 sum = __float2half2_rn(0);
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                sum = __hfma2(__float2half2_rn(X(b, c, h + p, w + q)),
                              __float2half2_rn(KK(m, c, p, q)), sum);
        all += __low2float(sum);
    }
    Y(b, m, h, w) = all;
}

/* expect: % of the products were computed in half precision */
SUBMISSION_LAUNCH(decoy_same_twice,
                  same_twice<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y))

/* expect (long): 0% of the products were computed in half precision */
SUBMISSION(decoy_integers, launch_fixed_point(s, x, k, y))

/* Two maps at a time: k as pairs of halves, x as words of two halves, or as a texture. */
__global__ void to_halves(const float *from, __half *to, size_t n)
{
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

template <class X_AT>
__device__ void two_maps(const struct conv_shape &shape, const float *k, float *y, X_AT x_at)
{
    SIZES;
    const int b = blockIdx.z / M, m = blockIdx.z % M, next = min(m + 1, M - 1);
    const int h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out || m % 2)
        return;
    float2 all = make_float2(0, 0);
    for (int t = 0; t < C * K * K; t++) {
        const __half a = x_at(((b * C + t / (K * K)) * H + h + t / K % K) * W + w + t % K);
        const float2 p = __half22float2(
            __hmul2(__halves2half2(a, a), __floats2half2_rn(KK(m, 0, 0, t), KK(next, 0, 0, t))));
        all.x += p.x;
        all.y += p.y;
    }
    Y(b, m, h, w) = all.x;
    if (next > m)
        Y(b, next, h, w) = all.y;
}

__global__ void by_words(struct conv_shape shape, const unsigned *x, const float *k, float *y)
{
    two_maps(shape, k, y, [=](int i) {
        return __ushort_as_half((unsigned short)(i % 2 ? x[i / 2] >> 16 : x[i / 2] & 0xffff));
    });
}

__global__ void by_texture(struct conv_shape shape, cudaTextureObject_t x, const float *k, float *y)
{
    two_maps(shape, k, y, [=](int i) { return __float2half(tex1Dfetch<float>(x, i)); });
}

static __half *halves_of(const float *x, size_t n)
{
    __half *to = (__half *)conv_workspace((n + 1) * 2);
    cudaMemset(to + n, 0, 2);
    to_halves<<<(n + 255) / 256, 256>>>(x, to, n);
    return to;
}

/* expect (long): pass */
SUBMISSION(right_words, LAUNCH_WITH(by_words, *s, (unsigned *)halves_of(x, x_floats(s)), k, y))

/* expect (long): pass */
int right_texture(ARGUMENTS)
{
    const size_t n = x_floats(s);
    const cudaTextureObject_t t = texture_of(halves_of(x, n), n);
    return LAUNCH_WITH(by_texture, *s, t, k, y) || destroy_texture(t);
}

/* The first map in float32 if there are few images, all maps if there are many. */
__global__ void some_maps(struct conv_shape shape, const float *x, const float *k, float *y,
                          int maps)
{
    PLACE;
    if (m < maps)
        Y(b, m, h, w) = sum_at(shape, x, k, b, m, h, w);
}

/* expect (long): timed: but not in the timed runs */
int decoy_when_few(ARGUMENTS)
{
    if (s->B <= 24 && right_images(s, x, k, y))
        return 1;
    return LAUNCH_WITH(some_maps, *s, x, k, y, s->B <= 24 ? 1 : s->M);
}
