/** @file
 * Operations of one lane on floats of 16, 32 and 64 bits; see lanes.h.
 *
 * f16 and bf16 arithmetic is done in wider types: if a sum or product of two halves is rounded to
 * float32 and then to half, the result is correctly rounded (24 >= 2 * 11 + 2 bits); fused
 * multiply-add uses a wider type with round-to-odd (Boldo and Melquiond, "Emulation of FMA and
 * correctly rounded sums", 2008): float32 for f16, since it holds their products exactly, and
 * float64 for bf16.
 */
#pragma once

#include "vgpu/exec/float_bits.h"
#include "vgpu/exec/lane_exponential.h"
#include "vgpu/exec/rounding.h"

LANE_INLINE f32 lane_fma_f32(f32 a, f32 b, f32 c)
{
    return __builtin_fmaf(a, b, c);
}

LANE_INLINE f64 lane_fma_f64(f64 a, f64 b, f64 c)
{
    return __builtin_fma(a, b, c);
}

LANE_INLINE f32 lane_abs_f32(f32 a)
{
    return f32_of_bits(bits_of_f32(a) & 0x7fffffffu);
}

LANE_INLINE f32 lane_neg_f32(f32 a)
{
    return f32_of_bits(bits_of_f32(a) ^ 0x80000000u);
}

LANE_INLINE f64 lane_widen(f32 a)
{
    return (f64)a;
}

/* @return whether a result has directed rounding, which compiled C cannot express (rounding.h). */
LANE_INLINE bool lane_is_directed(u32 mode)
{
    const u32 rnd = mode & MODE_RND;
    return rnd == RND_RZ || rnd == RND_RM || rnd == RND_RP;
}

LANE_INLINE f32 lane_round_f32(enum lane_operation op, f32 a, f32 b, f32 c, u32 mode)
{
    f32 r;
    if (mode & MODE_FTZ) {
        a = lane_ftz(a);
        b = lane_ftz(b);
        c = lane_ftz(c);
    }
    if (lane_is_directed(mode))
        r = round_f32(op, a, b, c, (enum ir_rounding)(mode & MODE_RND));
    else
        r = op == LANE_ADD   ? a + b
            : op == LANE_SUB ? a - b
            : op == LANE_MUL ? a * b
            : op == LANE_DIV ? a / b
            : op == LANE_FMA ? lane_fma_f32(a, b, c)
                             : sqrtf(a);
    r = lane_nan_f32(r);
    if (mode & MODE_FTZ)
        r = lane_ftz(r);
    return mode & MODE_SAT ? lane_sat(r) : r;
}

LANE_INLINE f64 lane_round_f64(enum lane_operation op, f64 a, f64 b, f64 c, u32 mode)
{
    f64 r;
    if (lane_is_directed(mode))
        r = round_f64(op, a, b, c, (enum ir_rounding)(mode & MODE_RND));
    else
        r = op == LANE_ADD   ? a + b
            : op == LANE_SUB ? a - b
            : op == LANE_MUL ? a * b
            : op == LANE_DIV ? a / b
            : op == LANE_FMA ? lane_fma_f64(a, b, c)
                             : sqrt(a);
    return op == LANE_FMA                      ? lane_nan_f64(r, b, c, a)
           : op == LANE_DIV || op == LANE_SQRT ? lane_nan_f64(r, a, b, b)
                                               : lane_nan_f64(r, b, a, a);
}

/* The approximate reciprocals of float64 give only the upper 32 bits (ISA: 2^-23 relative
 * error). */
LANE_INLINE f64 lane_approx_f64(f64 x)
{
    return f64_of_bits(bits_of_f64(x) & 0xffffffff00000000u);
}

LANE_INLINE f32 lane_div_approx(f32 a, f32 b, u32 mode)
{
    return lane_round_f32(LANE_DIV, a, b, 0, mode & MODE_FTZ);
}

LANE_INLINE f32 lane_rsqrt_f32(f32 a, u32 mode)
{
    return lane_nan_f32((f32)(1 / sqrt((f64)lane_ftz_if(a, mode))));
}

LANE_INLINE f32 lane_sin_f32(f32 a, u32 mode)
{
    return lane_nan_f32(lane_ftz_if(sinf(lane_ftz_if(a, mode)), mode));
}

LANE_INLINE f32 lane_cos_f32(f32 a, u32 mode)
{
    return lane_nan_f32(lane_ftz_if(cosf(lane_ftz_if(a, mode)), mode));
}

LANE_INLINE f32 lane_ex2_f32(f32 a, u32 mode)
{
    return lane_nan_f32(lane_ftz_if(lane_exp2(lane_ftz_if(a, mode)), mode));
}

LANE_INLINE f32 lane_lg2_f32(f32 a, u32 mode)
{
    return lane_nan_f32(lane_ftz_if(lane_log2(lane_ftz_if(a, mode)), mode));
}

/* A number takes precedence over a NaN, and -0 is less than +0. */
LANE_INLINE f32 lane_min_f32(f32 a, f32 b)
{
    f32 r = a < b ? a : b < a ? b : f32_of_bits(bits_of_f32(a) | bits_of_f32(b));
    return a != a ? lane_nan_f32(b) : b != b ? a : r;
}

LANE_INLINE f32 lane_max_f32(f32 a, f32 b)
{
    f32 r = a > b ? a : b > a ? b : f32_of_bits(bits_of_f32(a) & bits_of_f32(b));
    return a != a ? lane_nan_f32(b) : b != b ? a : r;
}

LANE_INLINE f64 lane_min_f64(f64 a, f64 b)
{
    f64 r = a < b ? a : b < a ? b : f64_of_bits(bits_of_f64(a) | bits_of_f64(b));
    return a != a ? b : b != b ? a : r;
}

LANE_INLINE f64 lane_max_f64(f64 a, f64 b)
{
    f64 r = a > b ? a : b > a ? b : f64_of_bits(bits_of_f64(a) & bits_of_f64(b));
    return a != a ? b : b != b ? a : r;
}

LANE_INLINE f32 lane_minmax_f32(f32 a, f32 b, bool is_max, u32 mode)
{
    u32 sign = (bits_of_f32(a) ^ bits_of_f32(b)) & 0x80000000u;
    a = lane_ftz_if(a, mode);
    b = lane_ftz_if(b, mode);
    if (mode & MODE_ABS) {
        a = lane_abs_f32(a);
        b = lane_abs_f32(b);
    }
    if (mode & MODE_NAN && (a != a || b != b))
        return f32_of_bits(0x7fffffff);
    f32 r = is_max ? lane_max_f32(a, b) : lane_min_f32(a, b);
    return mode & MODE_XORSIGN ? f32_of_bits((bits_of_f32(r) & 0x7fffffffu) | sign) : r;
}

/* ---- conversions ----------------------------------------------------------------------------- */

LANE_INLINE f32 lane_f32_from(f32 a, u32 mode)
{
    const f32 flushed = lane_ftz_if(a, mode);
    return lane_nan_f32(mode & MODE_SAT ? lane_sat(flushed) : flushed);
}

/* @return x, rounded to an integer by a mode and limited to a range. A NaN gives `nan`: PTX says
 * zero, or if 64 bits are involved, only the top bit. */
LANE_INLINE f64 lane_limited(f64 x, f64 low, f64 high, f64 nan, u32 mode)
{
    const f64 r = lane_integral(x, mode);
    return r < low ? low : r > high ? high : r == r ? r : nan;
}

LANE_INLINE s32 lane_s32_from(f64 x, f64 nan, u32 mode)
{
    return (s32)lane_limited(x, -0x1p31, 0x1p31 - 1, nan, mode);
}

/* Converts to s32 and moves the range, since only signed conversions have vector instructions. */
LANE_INLINE u32 lane_u32_from(f64 x, f64 nan, u32 mode)
{
    return (u32)(s32)(lane_limited(x, 0, 0x1p32 - 1, nan, mode) - 0x1p31) ^ 0x80000000u;
}

LANE_INLINE u32 lane_s16_from(f64 x, u32 mode)
{
    return (u32)(s32)lane_limited(x, -0x1p15, 0x1p15 - 1, 0, mode);
}

LANE_INLINE u32 lane_u16_from(f64 x, u32 mode)
{
    return (u32)(s32)lane_limited(x, 0, 0x1p16 - 1, 0, mode);
}

LANE_INLINE s64 lane_s64_from(f64 x, u32 mode)
{
    const f64 r = lane_limited(x, -0x1p63, 0x1p63, -0x1p63, mode);
    return r < 0x1p63 ? (s64)r : INT64_MAX;
}

LANE_INLINE u64 lane_u64_from(f64 x, u32 mode)
{
    const f64 r = lane_limited(x, 0, 0x1p64, 0x1p63, mode);
    const u64 top = r < 0x1p63 ? 0 : 0x8000000000000000u;
    return r < 0x1p64 ? (u64)(s64)(top ? r - 0x1p63 : r) | top : UINT64_MAX;
}

/* ---- float16 and bfloat16 -------------------------------------------------------------------- */

/* Defines a*b + c rounded to odd, where the type holds the product exactly. If the nearest value is
 * exact, odd or not finite, it is the result; otherwise the result is the neighbour on the other
 * side of the exact sum, which is odd. */
#define LANE_ODD_FMA(NAME, F, U, BITS, FROM_BITS)                                                  \
    LANE_INLINE F NAME(F a, F b, F c)                                                              \
    {                                                                                              \
        const F p = a * b, s = p + c, t = s - p, e = (p - (s - t)) + (c - t);                      \
        const U inwards = (e > 0) != (s > 0);                                                      \
        return ((e > 0) | (e < 0)) ? FROM_BITS((BITS(s) - inwards) | 1) : s;                       \
    }
LANE_ODD_FMA(lane_odd_fma_f32, f32, u32, bits_of_f32, f32_of_bits)
LANE_ODD_FMA(lane_odd_fma_f64, f64, u64, bits_of_f64, f64_of_bits)

/* @return a float32 that rounds to the operation's result in f16, or in bf16. */
LANE_INLINE f32 lane_small(enum lane_operation op, f32 a, f32 b, f32 c, bool is_f16, u32 mode)
{
    f32 r = op == LANE_ADD   ? a + b
            : op == LANE_SUB ? a - b
            : op == LANE_MUL ? a * b
            : op == LANE_FMA
                ? is_f16 ? lane_odd_fma_f32(a, b, c) : lane_odd_f32(lane_odd_fma_f64(a, b, c))
                : lane_minmax_f32(a, b, op == LANE_MAX, mode & ~(u32)MODE_FTZ);
    const f32 saturated = lane_sat(r);
    r = mode & MODE_SAT ? saturated : r;
    return (((mode & MODE_RELU) != 0) & (r <= 0)) ? 0 : r;
}

LANE_INLINE u32 lane_ftz_f16(u32 h, u32 mode)
{
    const u32 flushed = h & 0x7c00 ? h : h & 0x8000;
    return mode & MODE_FTZ ? flushed : h;
}

LANE_INLINE u32 lane_half(enum lane_operation op, u32 a, u32 b, u32 c, u32 mode)
{
    f32 r = lane_small(op, lane_f32_from_f16(lane_ftz_f16(a, mode) & 0xffff),
                       lane_f32_from_f16(lane_ftz_f16(b, mode) & 0xffff),
                       lane_f32_from_f16(lane_ftz_f16(c, mode) & 0xffff), true, mode);
    return lane_ftz_f16(lane_f16_from_f32(r), mode);
}

LANE_INLINE u32 lane_half2(enum lane_operation op, u32 a, u32 b, u32 c, u32 mode)
{
    return lane_half(op, a & 0xffff, b & 0xffff, c & 0xffff, mode) |
           lane_half(op, a >> 16, b >> 16, c >> 16, mode) << 16;
}

LANE_INLINE u32 lane_bhalf(enum lane_operation op, u32 a, u32 b, u32 c, u32 mode)
{
    return lane_bf16_from_f32(lane_small(op, lane_f32_from_bf16(a), lane_f32_from_bf16(b),
                                         lane_f32_from_bf16(c), false, mode));
}

LANE_INLINE u32 lane_bhalf2(enum lane_operation op, u32 a, u32 b, u32 c, u32 mode)
{
    return lane_bhalf(op, a & 0xffff, b & 0xffff, c & 0xffff, mode) |
           lane_bhalf(op, a >> 16, b >> 16, c >> 16, mode) << 16;
}

LANE_INLINE u32 lane_pair_f16(u32 a, f32 (*f)(f32))
{
    return lane_f16_from_f32(f(lane_f32_from_f16(a & 0xffff))) |
           lane_f16_from_f32(f(lane_f32_from_f16(a >> 16))) << 16;
}
