/** @file
 * 2^x and the logarithm to base 2 of float32, without branches, so that compilers can use vector
 * instructions. They compute in float64 and round once. The result is the nearest float32, except
 * about once in three million numbers (the C library: once in twenty thousand), and the same with
 * every C library.
 */
#pragma once

#include "vgpu/exec/float_bits.h"

/* 2^x = 2^k * 2^r with the nearest integer k. The polynomial is the Taylor series of 2^r: its terms
 * are (ln 2)^n / n! * r^n, and the first omitted one is below 1e-11. */
LANE_INLINE f32 lane_exp2(f32 x)
{
    const f64 to_integer = 0x1.8p52; /* after this sum, the lowest bits are k */
    const f64 at = x < -160.0f ? -160.0 : x > 130.0f ? 130.0 : (f64)x;
    const f64 sum = at + to_integer, r = at - (sum - to_integer);
    f64 p = 1.01780860092397e-07;
    p = p * r + 1.321548679014431e-06;
    p = p * r + 1.5252733804059841e-05;
    p = p * r + 0.0001540353039338161;
    p = p * r + 0.0013333558146428443;
    p = p * r + 0.009618129107628477;
    p = p * r + 0.05550410866482158;
    p = p * r + 0.24022650695910072;
    p = p * r + 0.6931471805599453;
    p = p * r + 1.0;
    return x == x ? (f32)f64_of_bits(bits_of_f64(p) + (bits_of_f64(sum) << 52)) : x;
}

/* log2(x) = e + log2(m) with m from sqrt(1/2) to sqrt(2), and ln(m) = 2 atanh(s) with
 * s = (m - 1) / (m + 1). The series of atanh has the terms s^n / n for odd n. */
LANE_INLINE f32 lane_log2(f32 x)
{
    const bool is_small = x < 0x1p-126f;
    const u32 bits = bits_of_f32(is_small ? x * 0x1p24f : x);
    const u32 above = bits - 0x3f3504f3u; /* sqrt(1/2) */
    const f64 e = (f64)(((s32)above >> 23) - (is_small ? 24 : 0));
    const f64 m = (f64)f32_of_bits(bits - (above & 0xff800000u));
    const f64 s = (m - 1) / (m + 1), t = s * s;
    f64 p = 1.0 / 13;
    p = p * t + 1.0 / 11;
    p = p * t + 1.0 / 9;
    p = p * t + 1.0 / 7;
    p = p * t + 1.0 / 5;
    p = p * t + 1.0 / 3;
    p = p * t + 1.0;
    const f32 r = (f32)(e + 2.8853900817779268 * s * p); /* 2 / ln 2 */
    return x > 0 ? (x < INFINITY ? r : x) : x == 0 ? -INFINITY : NAN;
}
