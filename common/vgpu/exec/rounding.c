#include "vgpu/exec/rounding.h"
#include "vgpu/exec/float_bits.h"

#include <fenv.h>

static int begin(enum ir_rounding rounding)
{
    int before = fegetround();
    fesetround(rounding == RND_RZ   ? FE_TOWARDZERO
               : rounding == RND_RM ? FE_DOWNWARD
               : rounding == RND_RP ? FE_UPWARD
                                    : FE_TONEAREST);
    return before;
}

/* volatile keeps the computation between begin() and the restoration of the mode. */
#define ROUND(NAME, TYPE, FMA, SQRT)                                                               \
    TYPE NAME(enum lane_operation op, TYPE x, TYPE y, TYPE z, enum ir_rounding rounding)           \
    {                                                                                              \
        int before = begin(rounding);                                                              \
        volatile TYPE a = x, b = y, c = z;                                                         \
        volatile TYPE r = op == LANE_ADD   ? a + b                                                 \
                          : op == LANE_SUB ? a - b                                                 \
                          : op == LANE_MUL ? a * b                                                 \
                          : op == LANE_DIV ? a / b                                                 \
                          : op == LANE_FMA ? FMA(a, b, c)                                          \
                                           : SQRT(a);                                              \
        fesetround(before);                                                                        \
        return r;                                                                                  \
    }
ROUND(round_f32, float, fmaf, sqrtf)
ROUND(round_f64, double, fma, sqrt)

static float narrow(double x, enum ir_rounding rounding)
{
    int before = begin(rounding);
    volatile double a = x;
    volatile float r = (float)a;
    fesetround(before);
    return r;
}

static double to_integral(double x, enum ir_rounding rounding)
{
    return rounding == RND_RZ   ? trunc(x)
           : rounding == RND_RM ? floor(x)
           : rounding == RND_RP ? ceil(x)
                                : nearbyint(x);
}

static int64_t sign_extend(uint64_t bits, enum ptx_type type)
{
    unsigned unused = 64 - 8 * (unsigned)ptx_type_bytes(type);
    return (int64_t)(bits << unused) >> unused;
}

/* A NaN becomes zero, or if 64 bits are involved, only the top bit (PTX ISA, cvt). */
static uint64_t float_to_integer(double x, enum ptx_type to, enum ptx_type from, uint32_t mode)
{
    unsigned width = 8 * (unsigned)ptx_type_bytes(to);
    if (x != x)
        return from == PTX_TYPE_f64 || width == 64 ? UINT64_C(1) << (width - 1) : 0;
    x = to_integral(x, (enum ir_rounding)(mode & MODE_RND));
    if (ptx_type_is_signed(to)) {
        double limit = ldexp(1, (int)width - 1);
        int64_t max = (int64_t)(~UINT64_C(0) >> (65 - width));
        return (uint64_t)(x >= limit ? max : x < -limit ? -max - 1 : (int64_t)x);
    }
    return x >= ldexp(1, (int)width) ? ~UINT64_C(0) >> (64 - width) : x <= 0 ? 0 : (uint64_t)x;
}

static uint64_t integer_to_integer(uint64_t bits, enum ptx_type to, enum ptx_type from,
                                   uint32_t mode)
{
    bool from_signed = ptx_type_is_signed(from), to_signed = ptx_type_is_signed(to);
    unsigned width = 8 * (unsigned)ptx_type_bytes(to);
    if (from_signed)
        bits = (uint64_t)sign_extend(bits, from);
    if (!(mode & MODE_SAT))
        return bits;
    int64_t value = (int64_t)bits;
    uint64_t umax = ~UINT64_C(0) >> (64 - width), smax = umax >> 1;
    if (to_signed && from_signed)
        return (uint64_t)(value > (int64_t)smax        ? (int64_t)smax
                          : value < -(int64_t)smax - 1 ? -(int64_t)smax - 1
                                                       : value);
    if (from_signed && value < 0)
        return 0;
    uint64_t max = to_signed ? smax : umax;
    return bits > max ? max : bits;
}

static uint64_t double_to_float(double x, enum ptx_type to, uint32_t mode)
{
    enum ir_rounding rnd = (enum ir_rounding)(mode & MODE_RND);
    if (mode & MODE_RELU && x < 0)
        x = 0;
    if (to == PTX_TYPE_f64)
        return bits_of_f64(mode & MODE_SAT ? (x >= 0 ? (x > 1 ? 1 : x) : 0) : x);
    if (mode & MODE_SAT)
        x = x >= 0 ? (x > 1 ? 1 : x) : 0;
    if (to == PTX_TYPE_f32) {
        float r = lane_nan_f32(narrow(x, rnd));
        return bits_of_f32(mode & MODE_FTZ ? lane_ftz(r) : r);
    }
    if (to == PTX_TYPE_tf32)
        return x == x && rnd == RND_RZ ? bits_of_f32((float)x) & 0xffffe000u
                                       : lane_tf32_from_f32((float)x);
    bool half = to == PTX_TYPE_f16;
    if (rnd == RND_NONE || rnd == RND_RN || x != x || x - x != 0) {
        float odd = lane_odd_f32(x);
        uint32_t r = half ? lane_f16_from_f32(odd) : lane_bf16_from_f32(odd);
        if (mode & MODE_SATFINITE && (r & 0x7fff) >= (half ? 0x7c00 : 0x7f80) && x == x)
            r = (r & 0x8000) | (half ? 0x7bff : 0x7f7f);
        return r;
    }
    /* Directed rounding: take the neighbour of smaller magnitude, and step away from zero if the
     * direction requires it. */
    float odd = lane_odd_f32(x);
    uint32_t r = half ? lane_f16_from_f32(odd) : lane_bf16_from_f32(odd);
    double back = half ? lane_f32_from_f16(r) : lane_f32_from_bf16(r);
    if (fabs(back) > fabs(x))
        r--;
    back = half ? lane_f32_from_f16(r) : lane_f32_from_bf16(r);
    bool away = (rnd == RND_RP && x > 0) || (rnd == RND_RM && x < 0);
    return back != x && away ? r + 1 : r;
}

static bool is_float(enum ptx_type type)
{
    return ptx_type_is_float(type);
}

uint64_t convert_bits(uint64_t bits, enum ptx_type to, enum ptx_type from, uint32_t mode)
{
    unsigned width = 8 * (unsigned)ptx_type_bytes(from);
    bits &= ~UINT64_C(0) >> (64 - width);
    if (!is_float(from)) {
        if (!is_float(to))
            return integer_to_integer(bits, to, from, mode);
        enum ir_rounding rnd = (enum ir_rounding)(mode & MODE_RND);
        int before = begin(to == PTX_TYPE_f16 || to == PTX_TYPE_bf16 ? RND_RZ : rnd);
        volatile int64_t s = sign_extend(bits, from);
        volatile uint64_t u = bits;
        volatile float single = ptx_type_is_signed(from) ? (float)s : (float)u;
        volatile double value = ptx_type_is_signed(from) ? (double)s : (double)u;
        fesetround(before);
        if (to == PTX_TYPE_f32)
            return bits_of_f32(mode & MODE_SAT ? lane_sat(single) : single);
        if (to == PTX_TYPE_f64)
            return bits_of_f64(value);
        /* The number is truncated to 53 bits and made odd, so that it rounds to the same half as
         * the integer. */
        uint64_t b = bits_of_f64(value);
        if (ptx_type_is_signed(from) ? (int64_t)value != s : (uint64_t)value != u)
            b |= 1;
        return double_to_float(f64_of_bits(b), to, mode);
    }
    float single = 0;
    double value;
    if (from == PTX_TYPE_f64) {
        value = f64_of_bits(bits);
    } else {
        single = from == PTX_TYPE_f16    ? lane_f32_from_f16((uint32_t)bits)
                 : from == PTX_TYPE_bf16 ? lane_f32_from_bf16((uint32_t)bits)
                                         : f32_of_bits((uint32_t)bits);
        if (mode & MODE_FTZ && from == PTX_TYPE_f32)
            single = lane_ftz(single);
        value = (double)single;
    }
    if (!is_float(to))
        return float_to_integer(value, to, from, mode);
    if (mode & MODE_TO_INTEGER) {
        value = copysign(to_integral(value, (enum ir_rounding)(mode & MODE_RND)), value);
        mode = (mode & ~(uint32_t)MODE_RND) | RND_RN;
    }
    return double_to_float(value, to, mode);
}

/* @return one byte of e4m3 (bias 7, no infinity, NaN 0x7f) or e5m2 (bias 15), rounded to nearest
 even, saturated.
 */
static uint32_t narrow_byte(float x, enum ptx_type to)
{
    int fraction = to == PTX_TYPE_e4m3x2 ? 3 : 2, bias = to == PTX_TYPE_e4m3x2 ? 7 : 15;
    double max = to == PTX_TYPE_e4m3x2 ? 448 : 57344, a = fabs((double)x);
    uint32_t sign = bits_of_f32(x) >> 24 & 0x80;
    if (x != x)
        return 0x7f;
    if (a == 0)
        return sign;
    if (a > max)
        a = max;
    int exponent;
    frexp(a, &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    double steps = nearbyint(ldexp(a, fraction - exponent));
    uint32_t r = (uint32_t)((exponent + bias - 1) << fraction) + (uint32_t)steps;
    uint32_t largest = to == PTX_TYPE_e4m3x2 ? 0x7e : 0x7b;
    return sign | (r > largest ? largest : r);
}

uint32_t convert_pair(float high, float low, enum ptx_type to, uint32_t mode)
{
    if (to == PTX_TYPE_e4m3x2 || to == PTX_TYPE_e5m2x2) {
        if (mode & MODE_RELU) {
            high = high < 0 ? 0 : high;
            low = low < 0 ? 0 : low;
        }
        return narrow_byte(high, to) << 8 | narrow_byte(low, to);
    }
    enum ptx_type half = to == PTX_TYPE_f16x2 ? PTX_TYPE_f16 : PTX_TYPE_bf16;
    return (uint32_t)convert_bits(bits_of_f32(high), half, PTX_TYPE_f32, mode) << 16 |
           (uint32_t)convert_bits(bits_of_f32(low), half, PTX_TYPE_f32, mode);
}

float widen_byte(uint32_t byte, bool is_e5m2)
{
    if (is_e5m2) /* the upper half of an f16 */
        return lane_f32_from_f16(byte << 8);
    if ((byte & 0x7f) == 0x7f)
        return NAN;
    int exponent = (int)(byte >> 3 & 15), fraction = (int)(byte & 7);
    float value =
        exponent ? ldexpf((float)(8 + fraction), exponent - 10) : ldexpf((float)fraction, -9);
    return byte & 0x80 ? -value : value;
}

uint32_t convert_bytes(uint32_t bytes, enum ptx_type from, uint32_t mode)
{
    uint32_t r = 0;
    for (int i = 0; i < 2; i++) {
        float value = widen_byte(bytes >> 8 * i & 0xff, from == PTX_TYPE_e5m2x2);
        if (mode & MODE_RELU && value < 0)
            value = 0;
        r |= (value != value ? 0x7fff : lane_f16_from_f32(value)) << 16 * i;
    }
    return r;
}
