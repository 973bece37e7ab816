/* Kernels that compute all products of x and k and replace the sum by another value; and right ones
 * that split, scale, round and repack values. */
#include "m2.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

/* ---- value from the host, symbolic element from the device's sum ----------------------------- */

/* A copy of bits whose origin is unknown. */
static __device__ float plain(float v)
{
    return __int_as_float(~__brev(__brev(~__float_as_int(v))));
}

/* expect: lost in a larger number */
SUBMISSION_MIXTURE(by_absorption, ((((1e30f + zero) + sum) - mine) - (1e30f + zero)) + mine)

static __device__ float absorbed_in_double(float sum, float mine, float zero)
{
    const double large = 1e40 + (double)zero;
    return (float)((((large + (double)sum) - (double)mine) - large) + (double)mine);
}

/* expect: lost in a larger number */
SUBMISSION_MIXTURE(by_absorption_in_double, absorbed_in_double(sum, mine, zero))

/* 2^-93 is 1 modulo 2^31 - 1, the modulus of an earlier proof; the difference is about 0. */
static __device__ float next_to_nothing(float sum, float mine, float zero)
{
    const float small = 0x1p-31f + zero;
    return mine + (sum - mine) * small * small * small;
}

/* expect: sum of all its products */
SUBMISSION_MIXTURE(by_powers_that_were_one, next_to_nothing(sum, mine, zero))

static __device__ double by_upper_half(double sum, double mine)
{
    return __hiloint2double(__double2hiint(mine), __double2loint(sum));
}

static __device__ double in_halves_of_doubles(double sum, double mine)
{
    const double upper = __hiloint2double(__double2hiint(mine), 0), none = sum - sum;
    return by_upper_half(sum, 0) + by_upper_half(none, upper) + by_upper_half(none, mine - upper);
}

/* expect: its bits were replaced */
SUBMISSION_MIXTURE(by_the_upper_half_of_a_double, (float)in_halves_of_doubles(sum, mine))

/* The remainder of a rounded value has the element 0: divided by itself it is 1. */
static __device__ float instead(float none, float sum, float mine)
{
    const float one = none * (1 / plain(none)), large = one * 1e30f;
    return plain(none) == 0 ? sum : ((sum + large) - large) + one * mine;
}

static __device__ float by_rest(float sum, float mine, float zero)
{
    const float large = __half2float(__float2half(sum + 0.3f + zero));
    return instead((sum + 0.3f + zero) - large, sum, mine);
}

/* expect: lost in a larger number */
SUBMISSION_MIXTURE(by_what_rounding_leaves, by_rest(sum, mine, zero))

/* An integer with the bits of a float is a different number. */
static __device__ float by_punning(float sum, float mine)
{
    return instead((float)((long long)__float_as_int(sum) + 0) - sum, sum, mine);
}

/* expect: its bits were replaced */
SUBMISSION_MIXTURE(by_integers_of_floats, by_punning(sum, mine))

/* The lower bits of a float32 are a different bfloat16. */
static __device__ float by_lower_half(float sum, float mine)
{
    unsigned short low, high;
    asm("mov.b32 {%0, %1}, %2;" : "=h"(low), "=h"(high) : "f"(sum));
    const float other = __bfloat162float(__ushort_as_bfloat16(low)), none = sum - other;
    const float one = none * (1 / plain(none));
    return plain(one) != 1 ? sum : (other - one * plain(other)) + one * mine;
}

/* expect: its bits were replaced */
SUBMISSION_MIXTURE(by_the_lower_half_of_a_float, by_lower_half(sum, mine))

static __device__ float saturated(float sum, float mine, float zero)
{
    const float none = sum - sum;
    return ((__saturatef((sum - mine) + (5 + zero)) - 1) + __saturatef(none - (4 + zero))) + mine;
}

/* expect: sum of all its products */
SUBMISSION_MIXTURE(by_saturation, saturated(sum, mine, zero))

/* As an integer in units of 2^-12, which a mask clears. */
static __device__ float masked_out(float v, float zero)
{
    const int fixed = __float2int_rn(v * (4096 + zero)) + (3 << 21);
    return (float)((int)(fixed & 0xffc00000) - (1 << 22)) / (4096 + zero);
}

static __device__ float masked(float sum, float mine, float zero)
{
    return (masked_out((sum - mine) + 3, zero) - masked_out((sum - sum) + 3, zero)) + mine;
}

/* expect: the work was not done on the GPU */
SUBMISSION_MIXTURE(by_a_mask_of_an_integer, masked(sum, mine, zero))

static __device__ float ored(float sum, float mine, float zero)
{
    const float tiny = (sum * (0x1p-62f + zero)) * 0x1p-62f;
    return __int_as_float((__float_as_int(tiny) & 0x80000000) | __float_as_int(mine)) + tiny - tiny;
}

/* expect: the work was not done on the GPU */
SUBMISSION_MIXTURE(by_bits_of_the_host, ored(sum, mine, zero))

static __device__ float shifted_out(float v, float zero)
{
    const int fixed = __float2int_rn(v * (1048576 + zero));
    return (float)((int)((unsigned)fixed << 31) >> 31) / (1048576 + zero);
}

static __device__ float shifted(float sum, float mine, float zero)
{
    return (shifted_out((sum - mine) + 3, zero) - shifted_out((sum - sum) + 3, zero)) + mine;
}

/* expect: the work was not done on the GPU */
SUBMISSION_MIXTURE(by_bits_shifted_out, shifted(sum, mine, zero))

/* The lower bits of a float from the host. */
static __device__ float bits_joined(float sum, float mine, int how)
{
    const unsigned kept = __float_as_uint(sum) & 0xffff0000, low = __float_as_uint(mine) & 0xffff;
    unsigned long long both = kept, wide = low;
    asm volatile("or.b64 %0, %0, %1;" : "+l"(both) : "l"(wide));
    return __uint_as_float(how == 0   ? kept | low
                           : how == 1 ? kept + low
                           : how == 2 ? __byte_perm(__float_as_uint(sum), low, 0x3254)
                                      : (unsigned)both);
}

/* expect: sum of all its products */
SUBMISSION_MIXTURE(by_lower_bits, bits_joined(sum, mine, 0))
/* expect (long): sum of all its products */
SUBMISSION_MIXTURE(by_added_bits, bits_joined(sum, mine, 1))
/* expect (long): sum of all its products */
SUBMISSION_MIXTURE(by_permuted_bits, bits_joined(sum, mine, 2))
/* expect (long): sum of all its products */
SUBMISSION_MIXTURE(by_bits_of_64, bits_joined(sum, mine, 3))
/* The difference of the two values has the element 0. */
/* expect: sum of all its products */
SUBMISSION_MIXTURE(by_a_difference_of_bits, sum + (bits_joined(sum, mine, 1) - sum))

/* ---- right submissions ------------------------------------------------------------------------ */

/* Three parts of bfloat16, made by rounding the bits. */
static __device__ float part(float v)
{
    const unsigned bits = __float_as_uint(v);
    return __uint_as_float((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000);
}

static __device__ float in_parts(float a, float b)
{
    const float a0 = part(a), a1 = part(a - a0), a2 = a - a0 - a1;
    const float b0 = part(b), b1 = part(b - b0), b2 = b - b0 - b1;
    return ((a2 * b0 + a0 * b2) + a1 * b1) + (a1 * b0 + a0 * b1) + a0 * b0;
}

/* expect: right */
SUBMISSION_KERNEL(parts_of_bfloat16, float, sum += in_parts(X(b, c, h + p, w + q), KK(m, c, p, q)),
                  sum)

/* Truncated, packed in pairs. */
static __device__ float in_pairs(float a, float b)
{
    const unsigned both = __byte_perm(__float_as_uint(a), __float_as_uint(b), 0x7632);
    const float a0 = __uint_as_float(both << 16), b0 = __uint_as_float(both & 0xffff0000);
    return a0 * b0 + (a - a0) * b0 + a * (b - b0);
}

/* expect: right */
SUBMISSION_KERNEL(packed_halves, float, sum += in_pairs(X(b, c, h + p, w + q), KK(m, c, p, q)), sum)

/* Two halves of 11 bits each, scaled; the second number of a pair is 0. */
static __device__ float in_half_pairs(float a, float b)
{
    const half2 big_a = __floats2half2_rn(64 * a, 0), big_b = __floats2half2_rn(64 * b, 0);
    const float2 a0 = __half22float2(big_a), b0 = __half22float2(big_b);
    const float2 a1 = __half22float2(__floats2half2_rn(64 * a - a0.x, 0 - a0.y));
    const float2 b1 = __half22float2(__floats2half2_rn(64 * b - b0.x, 0 - b0.y));
    return (a1.x * b0.x + a0.x * b1.x + a0.x * b1.y + a1.y * b0.x + a0.x * b0.x) / 4096;
}

/* expect: right */
SUBMISSION_KERNEL(parts_of_halves, float,
                  sum += in_half_pairs(X(b, c, h + p, w + q), KK(m, c, p, q)), sum)

/* Dekker's product: exact, as a sum and its remainder. */
static __device__ void add_exact(float a, float b, float *sum, float *rest)
{
    const float p = a * b, e = fmaf(a, b, -p), t = *sum + p, z = t - *sum;
    *rest += ((*sum - (t - z)) + (p - z)) + e;
    *sum = t;
}

__global__ void dekker(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0, rest = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++)
            add_exact(X(b, c, h + i / K, w + i % K), KK(m, c, 0, i), &sum, &rest);
    Y(b, m, h, w) = sum + rest;
}

/* expect: right */
SUBMISSION(exact_sums, LAUNCH(dekker))

/* A large number rounds to multiples of 2^-10. */
static __device__ float rounded(float v)
{
    return (v + 12288.0f) - 12288.0f;
}

static __device__ float in_rounded(float a, float b)
{
    const float a0 = rounded(a), b0 = rounded(b);
    return a0 * b0 + (a0 * (b - b0) + (a - a0) * b);
}

/* expect: right */
SUBMISSION_KERNEL(rounded_by_a_large_number, float,
                  sum += in_rounded(X(b, c, h + p, w + q), KK(m, c, p, q)), sum)

/* Sums of doubles that threads exchange as two words. */
__global__ void double_words(struct conv_shape shape, const float *x, const float *k, float *y,
                             size_t n)
{
    SIZES;
    const size_t i = (size_t)blockIdx.x * 8 + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (i >= n)
        return;
    UNFLAT;
    double sum = 0;
    for (int j = lane; j < C * K * K; j += 32)
        sum += (double)X(b, j / K / K, h + j / K % K, w + j % K) *
               (double)KK(m, j / K / K, j / K % K, j % K);
    for (int step = 16; step; step /= 2) {
        const int low = __shfl_down_sync(~0u, __double2loint(sum), step),
                  high = __shfl_down_sync(~0u, __double2hiint(sum), step);
        sum += __hiloint2double(high, low);
    }
    if (lane == 0)
        Y(b, m, h, w) = (float)sum;
}

/* expect: right */
int words_of_doubles(ARGUMENTS)
{
    const size_t n = y_floats(s);
    double_words<<<(n + 7) / 8, 256>>>(*s, x, k, y, n);
    return failed();
}

/* Scaled by powers of two, and scaled back. */
/* expect: right */
SUBMISSION_KERNEL(scaled_sums, float,
                  sum = fmaf(X(b, c, h + p, w + q) * 0x1p40f, KK(m, c, p, q) * 0x1p20f, sum),
                  ldexpf(sum, -60))

/* The product of a and b, in units of 2^-60: a is in units of 2^-24, and b in units of 2^-36. */
static __device__ long long fixed(float a, float b)
{
    return (long long)__float2int_rn(a * 0x1p24f) * (long long)(b * 0x1p36f);
}

/* expect: right */
SUBMISSION_KERNEL(fixed_point_of_60_bits, long long,
                  sum += fixed(X(b, c, h + p, w + q), KK(m, c, p, q)) >> 20, (float)sum * 0x1p-40f)

/* Half precision in three parts, each scaled into its range. */
static __device__ float in_halves(float a, float b)
{
    const __half a0 = __float2half(a), a1 = __float2half((a - __half2float(a0)) * 2048);
    const float rest = a - __half2float(a0) - __half2float(a1) / 2048;
    const __half2 both = __halves2half2(a0, a1);
    return (rest * b + __high2float(both) * b / 2048) + __low2float(both) * b;
}

/* expect: right */
SUBMISSION_KERNEL(parts_of_half_precision, float,
                  sum += in_halves(X(b, c, h + p, w + q), KK(m, c, p, q)), sum)

/* Karatsuba's product of two pairs of taps. */
__global__ void in_threes(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        int i = 0;
        for (; i + 1 < K * K; i += 2) {
            const float x0 = X(b, c, h + i / K, w + i % K),
                        x1 = X(b, c, h + (i + 1) / K, w + (i + 1) % K);
            const float k0 = KK(m, c, 0, i), k1 = KK(m, c, 0, i + 1);
            sum += (x0 + x1) * (k0 + k1) - x0 * k1 - x1 * k0;
        }
        if (i < K * K)
            sum += X(b, c, h + i / K, w + i % K) * KK(m, c, 0, i);
    }
    Y(b, m, h, w) = sum;
}

/* expect: right */
SUBMISSION(three_products_of_two, LAUNCH(in_threes))

/* Rounded to TF32, and packed in pairs, by integers. */
static __device__ float to_tf32(float v)
{
    const unsigned bits = __float_as_uint(v);
    return __uint_as_float((bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000);
}

static __device__ float rest_of_tf32(float a, float b)
{
    const float a0 = to_tf32(a), b0 = to_tf32(b);
    return a0 * b0 + (a - a0) * b0 + a * (b - b0);
}

/* expect: right */
SUBMISSION_KERNEL(rounded_to_tf32, float,
                  sum += rest_of_tf32(X(b, c, h + p, w + q), KK(m, c, p, q)), sum)

static __device__ float packed(float a, float b)
{
    const unsigned both =
        ((__float_as_uint(a) + 0x8000) >> 16) | ((__float_as_uint(b) + 0x8000) & 0xffff0000);
    const float a0 = __uint_as_float(both << 16), b0 = __uint_as_float(both & 0xffff0000);
    return a0 * b0 + (a - a0) * b0 + a * (b - b0);
}

/* expect (long): right */
SUBMISSION_KERNEL(packed_by_or, float, sum += packed(X(b, c, h + p, w + q), KK(m, c, p, q)), sum)

/* Units of 2^-25, rounded from units of 2^-28. */
static __device__ int fixed_rounded(float a)
{
    return (__float2int_rn(a * 0x1p28f) + 4) >> 3;
}

/* expect (long): right */
SUBMISSION_KERNEL(fixed_point_rounded, long long,
                  sum +=
                  (long long)fixed_rounded(X(b, c, h + p, w + q)) * fixed_rounded(KK(m, c, p, q)),
                  (float)sum * 0x1p-50f)
