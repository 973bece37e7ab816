/** @file
 * What the lane-wise instructions of ptx/opcodes.def compute, one inline function an operation.
 * Their loops over 32 lanes are vectorised by the compiler, so plain forms have no branches; a
 * translator to native code can call the same functions.
 *
 * f16 and bf16 arithmetic is done in wider types: a float32 sum or product of two halves, rounded
 * to nearest, rounds again to the correctly rounded half (24 >= 2 * 11 + 2 bits); fused
 * multiply-add goes through float64 with round-to-odd (Boldo and Melquiond, "Emulation of FMA and
 * correctly rounded sums", 2008).
 */
#ifndef CONVLAB_VGPU_LANES_H
#define CONVLAB_VGPU_LANES_H

#include "vgpu/exec/rounding.h"
#include "vgpu/ptx/ptx_ir.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;
typedef uint32_t h16; /* 16 bits in a lane of 32 */

#define LANE_INLINE static inline __attribute__((always_inline, unused))

LANE_INLINE u32 bits_of_f32(f32 x)
{
    u32 b;
    memcpy(&b, &x, sizeof b);
    return b;
}

LANE_INLINE f32 f32_of_bits(u32 b)
{
    f32 x;
    memcpy(&x, &b, sizeof x);
    return x;
}

LANE_INLINE u64 bits_of_f64(f64 x)
{
    u64 b;
    memcpy(&b, &x, sizeof b);
    return b;
}

LANE_INLINE f64 f64_of_bits(u64 b)
{
    f64 x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* ---- integers and bits ----------------------------------------------------------------------- */

LANE_INLINE s32 lane_add_sat_s32(s32 a, s32 b)
{
    s64 r = (s64)a + b;
    return r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : (s32)r;
}

LANE_INLINE s32 lane_sub_sat_s32(s32 a, s32 b)
{
    s64 r = (s64)a - b;
    return r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : (s32)r;
}

LANE_INLINE u32 lane_add_16x2(u32 a, u32 b)
{
    return ((a + b) & 0xffff) | ((a & 0xffff0000u) + (b & 0xffff0000u));
}

LANE_INLINE s32 lane_relu_s32(s32 a)
{
    return a > 0 ? a : 0;
}

LANE_INLINE u64 lane_mul_hi_u64(u64 a, u64 b)
{
    return (u64)((unsigned __int128)a * b >> 64);
}

LANE_INLINE s64 lane_mul_hi_s64(s64 a, s64 b)
{
    return (s64)((__int128)a * b >> 64);
}

LANE_INLINE s32 lane_sext24(s32 a)
{
    return (s32)((u32)a << 8) >> 8;
}

/* Division by zero gives all ones, the overflow of the most negative number wraps: as on the GPU.
 */
LANE_INLINE s32 lane_div_s32(s32 a, s32 b)
{
    return b == 0 ? -1 : b == -1 ? (s32)(0u - (u32)a) : a / b;
}

LANE_INLINE s32 lane_rem_s32(s32 a, s32 b)
{
    return b == 0 ? a : b == -1 ? 0 : a % b;
}

LANE_INLINE s64 lane_div_s64(s64 a, s64 b)
{
    return b == 0 ? -1 : b == -1 ? (s64)((u64)0 - (u64)a) : a / b;
}

LANE_INLINE s64 lane_rem_s64(s64 a, s64 b)
{
    return b == 0 ? a : b == -1 ? 0 : a % b;
}

LANE_INLINE u32 lane_funnel_left(u32 low, u32 high, u32 n)
{
    return (u32)((((u64)high << 32 | low) << n) >> 32);
}

LANE_INLINE u32 lane_funnel_right(u32 low, u32 high, u32 n)
{
    return (u32)(((u64)high << 32 | low) >> n);
}

LANE_INLINE u64 lane_bfe(u64 a, u32 position, u32 length, int width, bool is_signed)
{
    u32 p = position & 0xff, n = length & 0xff;
    u64 value = width == 32 ? (u32)a : a;
    if (n == 0)
        return 0;
    u32 top = p + n - 1 < (u32)width - 1 ? p + n - 1 : (u32)width - 1;
    u64 sign = is_signed && value >> top & 1 ? ~(u64)0 : 0;
    if (p >= (u32)width)
        return is_signed ? sign : 0;
    u64 field = value >> p;
    return n >= 64 || p + n > (u32)width ? field | (p && is_signed ? sign << ((u32)width - p) : 0)
                                         : (field & (((u64)1 << n) - 1)) | (sign << n);
}

LANE_INLINE u64 lane_bfi(u64 a, u64 b, u32 position, u32 length, int width)
{
    u32 p = position & 0xff, n = length & 0xff;
    if (p >= (u32)width || n == 0)
        return b;
    u64 mask = (n >= 64 ? ~(u64)0 : ((u64)1 << n) - 1) << p;
    return (b & ~mask) | (a << p & mask);
}

LANE_INLINE u32 lane_bmsk(u32 start, u32 length)
{
    u64 mask = (((u64)1 << length) - 1) << start;
    return (u32)mask;
}

LANE_INLINE u32 lane_brev_32(u32 a)
{
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
}

LANE_INLINE u32 lane_popc(u32 a)
{
    a -= a >> 1 & 0x55555555;
    a = (a & 0x33333333) + (a >> 2 & 0x33333333);
    return ((a + (a >> 4)) & 0x0f0f0f0f) * 0x01010101u >> 24;
}

LANE_INLINE u32 lane_bfind(u64 a)
{
    return a ? 63 - (u32)__builtin_clzll(a) : 0xffffffffu;
}

LANE_INLINE u32 lane_fns(u32 mask, u32 base, s32 offset)
{
    if (offset == 0)
        return base < 32 && mask >> base & 1 ? base : 0xffffffffu;
    s32 step = offset > 0 ? 1 : -1, left = offset > 0 ? offset : -offset;
    for (s64 i = base; i >= 0 && i < 32; i += step)
        if (mask >> i & 1 && --left == 0)
            return (u32)i;
    return 0xffffffffu;
}

LANE_INLINE u32 lane_byte(u64 pool, u32 selector)
{
    u32 byte = (u32)(pool >> 8 * (selector & 7)) & 0xff;
    return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}

LANE_INLINE u32 lane_prmt(u32 a, u32 b, u32 c)
{
    u64 pool = (u64)b << 32 | a;
    return lane_byte(pool, c) | lane_byte(pool, c >> 4) << 8 | lane_byte(pool, c >> 8) << 16 |
           lane_byte(pool, c >> 12) << 24;
}

LANE_INLINE u32 lane_prmt_mode(u32 a, u32 b, u32 c, u32 mode)
{
    static const uint16_t selectors[7][4] = {
        {0},
        {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e */
        {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e */
        {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */
        {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
        {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */
        {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16 */
    };
    return lane_prmt(a, b, selectors[(mode & MODE_PRMT) >> MODE_PRMT_SHIFT][c & 3]);
}

LANE_INLINE u32 lane_lop3(u32 a, u32 b, u32 c, u32 table)
{
    u32 r = 0;
    r |= table & 0x01 ? ~a & ~b & ~c : 0;
    r |= table & 0x02 ? ~a & ~b & c : 0;
    r |= table & 0x04 ? ~a & b & ~c : 0;
    r |= table & 0x08 ? ~a & b & c : 0;
    r |= table & 0x10 ? a & ~b & ~c : 0;
    r |= table & 0x20 ? a & ~b & c : 0;
    r |= table & 0x40 ? a & b & ~c : 0;
    r |= table & 0x80 ? a & b & c : 0;
    return r;
}

LANE_INLINE s32 lane_part8(u32 a, int i, bool is_signed)
{
    u32 byte = a >> 8 * i & 0xff;
    return is_signed ? (s32)(int8_t)byte : (s32)byte;
}

LANE_INLINE u32 lane_dp4a(u32 a, u32 b, u32 c, bool a_signed, bool b_signed)
{
    for (int i = 0; i < 4; i++)
        c += (u32)(lane_part8(a, i, a_signed) * lane_part8(b, i, b_signed));
    return c;
}

LANE_INLINE u32 lane_dp2a(u32 a, u32 b, u32 c, int shift, bool a_signed, bool b_signed)
{
    for (int i = 0; i < 2; i++) {
        u32 half = a >> 16 * i & 0xffff;
        s32 x = a_signed ? (s32)(int16_t)half : (s32)half;
        c += (u32)(x * lane_part8(b >> shift, i, b_signed));
    }
    return c;
}

LANE_INLINE u32 lane_vabsdiff4(u32 a, u32 b)
{
    u32 r = 0;
    for (int i = 0; i < 4; i++) {
        s32 d = lane_part8(a, i, false) - lane_part8(b, i, false);
        r |= (u32)(d < 0 ? -d : d) << 8 * i;
    }
    return r;
}

LANE_INLINE u32 lane_sum4(u32 a)
{
    return (a & 0xff) + (a >> 8 & 0xff) + (a >> 16 & 0xff) + (a >> 24);
}

/* ---- float32 and float64 --------------------------------------------------------------------- */

/* Every float32 operation gives the one NaN 0x7fffffff. */
LANE_INLINE f32 lane_nan_f32(f32 x)
{
    return x == x ? x : f32_of_bits(0x7fffffff);
}

/* Subnormal numbers become zero of the same sign. */
LANE_INLINE f32 lane_ftz(f32 x)
{
    u32 b = bits_of_f32(x);
    return f32_of_bits((b & 0x7f800000u) ? b : b & 0x80000000u);
}

LANE_INLINE f64 lane_ftz_f64(f64 x)
{
    u64 b = bits_of_f64(x);
    return f64_of_bits((b & 0x7ff0000000000000u) ? b : b & 0x8000000000000000u);
}

LANE_INLINE f32 lane_ftz_if(f32 x, u32 mode)
{
    return mode & MODE_FTZ ? lane_ftz(x) : x;
}

LANE_INLINE f32 lane_sat(f32 x)
{
    return x >= 0 ? (x > 1 ? 1 : x + 0.0f) : 0;
}

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

LANE_INLINE f32 lane_round_f32(enum lane_operation op, f32 a, f32 b, f32 c, u32 mode)
{
    u32 rnd = mode & MODE_RND;
    f32 r;
    if (mode & MODE_FTZ) {
        a = lane_ftz(a);
        b = lane_ftz(b);
        c = lane_ftz(c);
    }
    if (rnd == RND_RZ || rnd == RND_RM || rnd == RND_RP)
        r = round_f32(op, a, b, c, (enum ir_rounding)rnd);
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
    u32 rnd = mode & MODE_RND;
    if (rnd == RND_RZ || rnd == RND_RM || rnd == RND_RP)
        return round_f64(op, a, b, c, (enum ir_rounding)rnd);
    return op == LANE_ADD   ? a + b
           : op == LANE_SUB ? a - b
           : op == LANE_MUL ? a * b
           : op == LANE_DIV ? a / b
           : op == LANE_FMA ? lane_fma_f64(a, b, c)
                            : sqrt(a);
}

/* The coarse float64 reciprocals give the upper 32 bits only (ISA: 2^-23 relative error). */
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
    return lane_nan_f32(lane_ftz_if(exp2f(lane_ftz_if(a, mode)), mode));
}

LANE_INLINE f32 lane_lg2_f32(f32 a, u32 mode)
{
    return lane_nan_f32(lane_ftz_if(log2f(lane_ftz_if(a, mode)), mode));
}

/* A NaN loses against a number, and -0 is less than +0. */
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

/* ---- float16 and bfloat16 -------------------------------------------------------------------- */

LANE_INLINE f32 lane_f32_from_f16(u32 h)
{
    u32 sign = (h & 0x8000) << 16, rest = h & 0x7fff;
    u32 normal = (rest << 13) + (rest >= 0x7c00 ? 0x70000000u : 0x38000000u);
    u32 tiny = bits_of_f32((f32)(s32)rest * 0x1p-24f);
    return f32_of_bits(sign | (rest < 0x400 ? tiny : normal));
}

/* To nearest even; overflow gives infinity, a NaN 0x7fff. */
LANE_INLINE u32 lane_f16_from_f32(f32 x)
{
    u32 b = bits_of_f32(x), sign = b >> 16 & 0x8000, rest = b & 0x7fffffffu;
    u32 normal = (rest - 0x38000000u + 0xfff + (rest >> 13 & 1)) >> 13;
    /* Adding 0.5 lines a tiny number's bits up so that the adder rounds them. */
    u32 tiny = bits_of_f32(f32_of_bits(rest) + 0.5f) - 0x3f000000u;
    u32 r = rest < 0x38800000u ? tiny : normal;
    r = rest >= 0x47800000u ? 0x7c00 : r;
    return rest > 0x7f800000u ? 0x7fff : sign | r;
}

LANE_INLINE f32 lane_f32_from_bf16(u32 h)
{
    return f32_of_bits((h & 0xffff) << 16);
}

LANE_INLINE u32 lane_bf16_from_f32(f32 x)
{
    u32 b = bits_of_f32(x);
    return x != x ? 0x7fff : (b + 0x7fff + (b >> 16 & 1)) >> 16;
}

/* Narrows to float32 with round-to-odd, so that rounding once more is as good as rounding once. */
LANE_INLINE f32 lane_odd_f32(f64 x)
{
    f32 r = (f32)x;
    if (r != r || (f64)r == x)
        return r;
    u32 b = bits_of_f32(r);
    if (fabs((f64)r) > fabs(x))
        b--;
    return f32_of_bits(b | 1);
}

/* a*b + c of halves in float64, rounded to odd: the product is exact there. */
LANE_INLINE f64 lane_odd_fma(f64 a, f64 b, f64 c)
{
    f64 p = a * b, s = p + c, t = s - p;
    f64 e = (p - (s - t)) + (c - t);
    if (e == 0 || e != e || s != s || (bits_of_f64(s) & 1))
        return s;
    u64 bits = bits_of_f64(s);
    return f64_of_bits((e > 0) == (s > 0) ? bits | 1 : (bits - 1) | 1);
}

LANE_INLINE f32 lane_small(enum lane_operation op, f32 a, f32 b, f32 c, u32 mode)
{
    f32 r = op == LANE_ADD   ? a + b
            : op == LANE_SUB ? a - b
            : op == LANE_MUL ? a * b
            : op == LANE_FMA ? lane_odd_f32(lane_odd_fma(a, b, c))
                             : lane_minmax_f32(a, b, op == LANE_MAX, mode & ~(u32)MODE_FTZ);
    if (mode & MODE_SAT)
        r = lane_sat(r);
    return mode & MODE_RELU && !(r > 0) && r == r ? 0 : r;
}

LANE_INLINE u32 lane_ftz_f16(u32 h, u32 mode)
{
    return mode & MODE_FTZ && !(h & 0x7c00) ? h & 0x8000 : h;
}

LANE_INLINE u32 lane_half(enum lane_operation op, u32 a, u32 b, u32 c, u32 mode)
{
    f32 r = lane_small(op, lane_f32_from_f16(lane_ftz_f16(a, mode) & 0xffff),
                       lane_f32_from_f16(lane_ftz_f16(b, mode) & 0xffff),
                       lane_f32_from_f16(lane_ftz_f16(c, mode) & 0xffff), mode);
    return lane_ftz_f16(lane_f16_from_f32(r), mode);
}

LANE_INLINE u32 lane_half2(enum lane_operation op, u32 a, u32 b, u32 c, u32 mode)
{
    return lane_half(op, a & 0xffff, b & 0xffff, c & 0xffff, mode) |
           lane_half(op, a >> 16, b >> 16, c >> 16, mode) << 16;
}

LANE_INLINE u32 lane_bhalf(enum lane_operation op, u32 a, u32 b, u32 c, u32 mode)
{
    return lane_bf16_from_f32(
        lane_small(op, lane_f32_from_bf16(a), lane_f32_from_bf16(b), lane_f32_from_bf16(c), mode));
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

#endif
