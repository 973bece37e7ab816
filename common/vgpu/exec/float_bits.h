/** @file
 * The bits of floats: special values, and conversion to halves. The functions expect the default
 * rounding mode.
 */
#pragma once

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
typedef uint32_t h16; /* 16 bits in a lane of 32 bits */

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

/* Every float32 operation gives the same NaN, 0x7fffffff. */
LANE_INLINE f32 lane_nan_f32(f32 x)
{
    return x == x ? x : f32_of_bits(0x7fffffff);
}

/* @return the NaN of float64 arithmetic, as on an H100: the first operand that is a NaN, made
 * quiet; if all are numbers, the negative NaN. (The NaN of compiled C depends on the instruction
 * that the compiler chose.) */
LANE_INLINE f64 lane_nan_f64(f64 r, f64 first, f64 second, f64 third)
{
    const f64 from = first != first ? first : second != second ? second : third;
    const u64 quiet = from != from ? bits_of_f64(from) | 0x0008000000000000u : 0xfff8000000000000u;
    return r == r ? r : f64_of_bits(quiet);
}

/* @return x, with subnormal numbers replaced by zero of the same sign. */
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

LANE_INLINE f32 lane_f32_from_f16(u32 h)
{
    u32 sign = (h & 0x8000) << 16, rest = h & 0x7fff;
    u32 normal = (rest << 13) + (rest >= 0x7c00 ? 0x70000000u : 0x38000000u);
    u32 tiny = bits_of_f32((f32)(s32)rest * 0x1p-24f);
    return f32_of_bits(sign | (rest < 0x400 ? tiny : normal));
}

/* Rounds to nearest even; overflow gives infinity, a NaN gives 0x7fff. */
LANE_INLINE u32 lane_f16_from_f32(f32 x)
{
    u32 b = bits_of_f32(x), sign = b >> 16 & 0x8000, rest = b & 0x7fffffffu;
    u32 normal = (rest - 0x38000000u + 0xfff + (rest >> 13 & 1)) >> 13;
    /* Adding 0.5 aligns a tiny number's bits so that the addition rounds them. */
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

/* Keeps 10 bits of fraction; ties round away from zero. */
LANE_INLINE u32 lane_tf32_from_f32(f32 x)
{
    const u32 b = bits_of_f32(x);
    return x != x ? b : (b + 0x1000) & 0xffffe000u;
}

/* Narrows to float32 with round-to-odd. A second rounding then gives the result of a single
 * rounding. */
LANE_INLINE f32 lane_odd_f32(f64 x)
{
    const f32 r = (f32)x;
    const u32 outwards = fabs((f64)r) > fabs(x);
    return r != r || (f64)r == x ? r : f32_of_bits((bits_of_f32(r) - outwards) | 1);
}

/* @return x as an integer, rounded as a mode says; zero keeps the sign of x. The sum with 2^52 has
 * no fraction. */
LANE_INLINE f64 lane_integral(f64 x, u32 mode)
{
    const u32 rnd = mode & MODE_RND;
    const f64 size = fabs(x), nearest = size + 0x1p52 - 0x1p52;
    const f64 below = nearest - (nearest > size), above = nearest + (nearest < size);
    const f64 floor = x < 0 ? above : below, ceiling = x < 0 ? below : above;
    const f64 r = rnd == RND_RZ ? below : rnd == RND_RM ? floor : rnd == RND_RP ? ceiling : nearest;
    return copysign(size < 0x1p52 ? r : size == size ? size : size + size, x);
}
