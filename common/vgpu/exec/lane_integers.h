/** @file
 * Operations of one lane on integers and bits; see lanes.h.
 */
#pragma once

#include "vgpu/exec/float_bits.h"

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

/* Defines an operation that chooses both halves, as u or s numbers, by a comparison. */
#define LANE_HALVES(name, type, compare)                                                           \
    LANE_INLINE u32 name(u32 a, u32 b)                                                             \
    {                                                                                              \
        const u32 high = (type)(a >> 16) compare(type)(b >> 16) ? a : b;                           \
        const u32 low = (type)a compare(type) b ? a : b;                                           \
        return (high & 0xffff0000u) | (low & 0xffff);                                              \
    }
LANE_HALVES(lane_min_u16x2, uint16_t, <)
LANE_HALVES(lane_min_s16x2, int16_t, <)
LANE_HALVES(lane_max_u16x2, uint16_t, >)
LANE_HALVES(lane_max_s16x2, int16_t, >)
#undef LANE_HALVES

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

/* As on a GPU, division by zero gives all ones, and the overflow of the most negative number wraps.
 * In these cases the divisor is replaced, so that the division needs no branch.
 *
 * x86 has no vector division of integers, but one of f64. Its quotient of integers of 32 bits never
 * rounds up to the next integer, which is at least 2^-32 away. */
#define LANE_DIVIDE_UNSIGNED(TYPE, QUOTIENT)                                                       \
    LANE_INLINE TYPE lane_div_##TYPE(TYPE a, TYPE b)                                               \
    {                                                                                              \
        const TYPE q = (TYPE)((QUOTIENT)a / (QUOTIENT)(b ? b : 1));                                \
        return b ? q : ~(TYPE)0;                                                                   \
    }                                                                                              \
    LANE_INLINE TYPE lane_rem_##TYPE(TYPE a, TYPE b)                                               \
    {                                                                                              \
        return b ? a - lane_div_##TYPE(a, b) * b : a;                                              \
    }
#define LANE_DIVIDE_SIGNED(TYPE, UNSIGNED, QUOTIENT)                                               \
    LANE_INLINE TYPE lane_div_##TYPE(TYPE a, TYPE b)                                               \
    {                                                                                              \
        const TYPE q = (TYPE)((QUOTIENT)a / (QUOTIENT)(b == 0 || b == -1 ? 1 : b));                \
        return b == 0 ? -1 : b == -1 ? (TYPE)((UNSIGNED)0 - (UNSIGNED)a) : q;                      \
    }                                                                                              \
    LANE_INLINE TYPE lane_rem_##TYPE(TYPE a, TYPE b)                                               \
    {                                                                                              \
        const UNSIGNED q = (UNSIGNED)lane_div_##TYPE(a, b);                                        \
        return b ? (TYPE)((UNSIGNED)a - q * (UNSIGNED)b) : a;                                      \
    }
LANE_DIVIDE_UNSIGNED(u32, f64)
LANE_DIVIDE_UNSIGNED(u64, u64)
LANE_DIVIDE_SIGNED(s32, u32, f64)
LANE_DIVIDE_SIGNED(s64, u64, s64)

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

LANE_INLINE u32 lane_vabsdiff2(u32 a, u32 b)
{
    s32 low = (s32)(a & 0xffff) - (s32)(b & 0xffff), high = (s32)(a >> 16) - (s32)(b >> 16);
    return (u32)(low < 0 ? -low : low) | (u32)(high < 0 ? -high : high) << 16;
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

/* ---- video instructions: enum ir_video ----
 *
 * As the PTX ISA defines them. On an H200 these give other results (measured): a second min or max of
 * numbers of which both have the highest bit, a saturated shift or unsigned product that overflows,
 * and a result that is saturated to a byte or put into the upper half. */

/* The size and the place of a part of a register: bytes 0 to 3, halves 4 and 5, the whole. */
LANE_INLINE u32 lane_video_bits(u32 part)
{
    return part < 4 ? 8 : part < VIDEO_WHOLE ? 16 : 32;
}

LANE_INLINE u32 lane_video_shift(u32 part)
{
    return part < 4 ? 8 * part : part < VIDEO_WHOLE ? 16 * (part - 4) : 0;
}

/* @return a part of a register. */
LANE_INLINE s64 lane_video_part(u32 a, u32 part, bool is_signed)
{
    const u32 shift = lane_video_shift(part), bits = lane_video_bits(part);
    const u32 top = a >> shift << (32 - bits);
    return is_signed ? (s64)((s32)top >> (32 - bits)) : (s64)(top >> (32 - bits));
}

LANE_INLINE s64 lane_video_clamp(__int128 x, u32 bits, bool is_signed)
{
    const s64 most = (s64)1 << (is_signed ? bits - 1 : bits), least = is_signed ? -most : 0;
    return x >= most ? most - 1 : x < least ? least : (s64)x;
}

LANE_INLINE s64 lane_video_compare(s64 x, s64 y, u32 how)
{
    switch (how >> VIDEO_COMPARE_SHIFT & 7) {
    case 0:
        return x == y;
    case 1:
        return x != y;
    case 2:
        return x < y;
    case 3:
        return x <= y;
    case 4:
        return x > y;
    default:
        return x >= y;
    }
}

LANE_INLINE __int128 lane_video_operation(s64 x, s64 y, u32 how)
{
    const s64 n = how & VIDEO_WRAP ? y & 31 : y > 32 ? 32 : y;
    switch (how & VIDEO_OPERATION) {
    case VIDEO_OP_ADD:
        return x + y;
    case VIDEO_OP_SUB:
        return x - y;
    case VIDEO_OP_ABSDIFF:
        return x < y ? y - x : x - y;
    case VIDEO_OP_MIN:
        return x < y ? x : y;
    case VIDEO_OP_MAX:
        return x > y ? x : y;
    case VIDEO_OP_SHL:
        return (__int128)x * ((__int128)1 << (n & 63));
    case VIDEO_OP_SHR:
        return x >> (n & 63);
    default:
        return lane_video_compare(x, y, how);
    }
}

/* a*b + c, and perhaps 1, shifted right. */
LANE_INLINE u32 lane_video_mad(s64 x, s64 y, u32 c, u32 how)
{
    const bool is_signed = (how & (VIDEO_A_SIGNED | VIDEO_B_SIGNED)) != 0;
    const u32 scale = how >> VIDEO_SCALE_SHIFT & 3;
    const __int128 product = (__int128)x * y, more = is_signed ? (s32)c : (s64)c;
    const __int128 all = (product + more + ((how & VIDEO_PLUS_ONE) != 0)) >> (scale == 0   ? 0
                                                                              : scale == 1 ? 7
                                                                                           : 15);
    const s64 most = is_signed ? INT32_MAX : UINT32_MAX, least = is_signed ? INT32_MIN : 0;
    return !(how & VIDEO_SATURATES) ? (u32)all
           : all > most             ? (u32)most
           : all < least            ? (u32)least
                                    : (u32)all;
}

LANE_INLINE u32 lane_video(u32 a, u32 b, u32 c, u32 how)
{
    const u32 part = how >> VIDEO_D_SHIFT & 7;
    const u32 bits = lane_video_bits(part), shift = lane_video_shift(part);
    const u32 mask = (0xffffffffu >> (32 - bits)) << shift;
    const bool is_signed = (how & VIDEO_D_SIGNED) != 0;
    const s64 x = lane_video_part(a, how >> VIDEO_A_SHIFT & 7, (how & VIDEO_A_SIGNED) != 0);
    const s64 y = lane_video_part(b, how >> VIDEO_B_SHIFT & 7, (how & VIDEO_B_SIGNED) != 0);
    if ((how & VIDEO_OPERATION) == VIDEO_OP_MAD) {
        const u32 r = lane_video_mad(x, y, c, how);
        return part == VIDEO_WHOLE ? r : (r << shift & mask) | (c & ~mask);
    }
    __int128 r = lane_video_operation(x, y, how);
    if (how & VIDEO_SATURATES)
        r = lane_video_clamp(r, bits, is_signed);
    const s64 other = is_signed ? (s32)c : (s64)c, one = is_signed ? (s32)r : (s64)(u32)r;
    switch ((how & VIDEO_SECOND) >> VIDEO_SECOND_SHIFT) {
    case 1:
        return (u32)r + c;
    case 2:
        return (u32)(one < other ? one : other);
    case 3:
        return (u32)(one > other ? one : other);
    default:
        return part == VIDEO_WHOLE ? (u32)r : ((u32)r << shift & mask) | (c & ~mask);
    }
}

/* The operation on all halves or bytes; with a second one, the sum of the results and c. */
LANE_INLINE u32 lane_videos(u32 a, u32 b, u32 c, u32 how)
{
    const bool bytes = (how & VIDEO_BYTES) != 0, adds = (how & VIDEO_SECOND) != 0;
    const u32 bits = bytes ? 8 : 16, first = bytes ? 0 : 4;
    u32 packed = 0, sum = c;
    for (u32 i = 0; i < (bytes ? 4u : 2u); i++) {
        __int128 r =
            lane_video_operation(lane_video_part(a, first + i, (how & VIDEO_A_SIGNED) != 0),
                                 lane_video_part(b, first + i, (how & VIDEO_B_SIGNED) != 0), how);
        if (how & VIDEO_SATURATES)
            r = lane_video_clamp(r, bits, (how & VIDEO_D_SIGNED) != 0);
        packed |= ((u32)r & (0xffffffffu >> (32 - bits))) << bits * i;
        sum += (u32)r;
    }
    return adds ? sum : packed;
}

LANE_INLINE u32 lane_sum2(u32 a)
{
    return (a & 0xffff) + (a >> 16);
}

LANE_INLINE u32 lane_sum4(u32 a)
{
    return (a & 0xff) + (a >> 8 & 0xff) + (a >> 16 & 0xff) + (a >> 24);
}
