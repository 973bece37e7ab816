/* A directed rounding is the nearest one, corrected: the error of the nearest result is computed
 * exactly, and if it has the wrong sign, the result is replaced by its neighbour. fesetround() takes
 * longer than the arithmetic, so only float64 operations whose error may underflow or overflow use
 * it. The results of float32 operations are computed in float64, where nothing underflows. All
 * functions expect the default rounding mode. */
#include "vgpu/exec/rounding.h"
#include "vgpu/exec/float_bits.h"

#include <fenv.h>

/* @return the exact sum a + b minus @p sum, the nearest float64 (Knuth's TwoSum; Handbook of
 * Floating-Point Arithmetic, section 4.3). */
static double sum_error(double a, double b, double sum)
{
    double part = sum - a;
    return (a - (sum - part)) + (b - part);
}

/* @return what to add to the bits of a nearest result: 1 makes it the neighbour away from zero, -1
 * the one towards zero. @param error has the sign of the exact result minus the nearest one. */
static int correction(bool negative, double error, enum ir_rounding rounding)
{
    bool away = rounding == (negative ? RND_RM : RND_RP);
    bool towards = rounding == RND_RZ || rounding == (negative ? RND_RP : RND_RM);
    bool larger = negative ? error < 0 : error > 0, smaller = negative ? error > 0 : error < 0;
    return (away & larger) - (towards & smaller);
}

static double correct(double nearest, double error, enum ir_rounding rounding)
{
    int step = correction(signbit(nearest), error, rounding);
    return f64_of_bits(bits_of_f64(nearest) + (u64)(s64)step);
}

/* @return x + error, rounded to odd: truncated, and with an odd last bit if it is inexact. This
 * float64 rounds to the same float32 or half as the exact sum. @param x the float64 nearest to the
 * sum. */
static double odd_sum(double x, double error)
{
    return f64_of_bits(bits_of_f64(correct(x, error, RND_RZ)) | (error < 0 || error > 0));
}

static float narrow(double x, enum ir_rounding rounding)
{
    float r = (float)x;
    return f32_of_bits(bits_of_f32(r) + (u32)correction(signbit(r), x - r, rounding));
}

/* @return @p sum, a + b; if it is zero, with its sign in this rounding: if the signs of a and b
 * differ, a zero is -0 rounded down, and +0 otherwise. */
static double signed_sum(double a, double b, double sum, enum ir_rounding rounding)
{
    bool minus = sum == 0 && rounding == RND_RM && (signbit(a) || signbit(b));
    return minus ? -0.0 : sum;
}

/* A quotient or square root that is not a float32 has a relative distance of at least 2^-49 from
 * each, which the nearest float64 preserves; so its error is not needed. */
float round_f32(enum lane_operation op, float x, float y, float z, enum ir_rounding rounding)
{
    double a = x, b = y;
    if (op == LANE_MUL)
        return narrow(a * b, rounding);
    if (op == LANE_DIV)
        return narrow(a / b, rounding);
    if (op == LANE_SQRT)
        return narrow(sqrt(a), rounding);
    if (op == LANE_FMA) {
        a *= b; /* is exact */
        b = z;
    } else if (op == LANE_SUB) {
        b = -b;
    }
    double sum = a + b;
    sum = odd_sum(signed_sum(a, b, sum, rounding), sum_error(a, b, sum));
    return narrow(sum, rounding);
}

/* volatile keeps the computation between the changes of the mode. */
static double round_by_mode(enum lane_operation op, double x, double y, double z,
                            enum ir_rounding rounding)
{
    int before = fegetround();
    fesetround(rounding == RND_RZ   ? FE_TOWARDZERO
               : rounding == RND_RM ? FE_DOWNWARD
               : rounding == RND_RP ? FE_UPWARD
                                    : FE_TONEAREST);
    volatile double a = x, b = y, c = z;
    volatile double r = op == LANE_ADD   ? a + b
                        : op == LANE_SUB ? a - b
                        : op == LANE_MUL ? a * b
                        : op == LANE_DIV ? a / b
                        : op == LANE_FMA ? fma(a, b, c)
                                         : sqrt(a);
    fesetround(before);
    return r;
}

/* @return whether the error of a product, quotient or square root of this size (at least 2^-106 of
 * it) is a float64, and whether sums of four such numbers are finite. */
static bool is_moderate(double x)
{
    return fabs(x) >= 0x1p-960 && fabs(x) <= 0x1p1020;
}

static bool is_moderate_product(double a, double b, double product)
{
    return is_moderate(product) || (product == 0 && (a == 0 || b == 0));
}

/* The errors of a quotient and a square root have the sign of their remainders. The error of fma()
 * is Boldo and Muller's ErrFma ("Exact and approximated error of the FMA", 2011), whose last sum
 * has the right sign although it is rounded. */
double round_f64(enum lane_operation op, double a, double b, double c, enum ir_rounding rounding)
{
    double r, product, low, sum, rest;
    switch (op) {
    case LANE_ADD:
    case LANE_SUB:
        rest = op == LANE_SUB ? -b : b;
        if (!(fabs(a) <= 0x1p1020 && fabs(b) <= 0x1p1020))
            break;
        r = a + rest;
        return correct(signed_sum(a, rest, r, rounding), sum_error(a, rest, r), rounding);
    case LANE_MUL:
        r = a * b;
        if (!is_moderate_product(a, b, r))
            break;
        return correct(r, fma(a, b, -r), rounding);
    case LANE_DIV:
        r = a / b;
        if (!is_moderate(a) && a != 0)
            break;
        rest = fma(-r, b, a);
        return correct(r, b < 0 ? -rest : rest, rounding);
    case LANE_FMA:
        product = a * b;
        if (!is_moderate_product(a, b, product) || !(is_moderate(c) || c == 0))
            break;
        r = fma(a, b, c);
        low = fma(a, b, -product);
        rest = c + low;
        sum = product + rest;
        low = sum_error(c, low, rest);
        rest = sum_error(product, rest, sum);
        return correct(signed_sum(product, c, r, rounding), ((sum - r) + rest) + low, rounding);
    default:
        r = sqrt(a);
        if (!is_moderate(a) && a != 0)
            break;
        return correct(r, fma(-r, r, a), rounding);
    }
    return round_by_mode(op, a, b, c, rounding);
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
    x = lane_integral(x, mode);
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
        return bits_of_f64(mode & MODE_SAT ? (x >= 0 ? (x > 1 ? 1 : x + 0.0) : 0) : x);
    if (mode & MODE_SAT)
        x = x >= 0 ? (x > 1 ? 1 : x + 0.0) : 0;
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
        bool is_signed = ptx_type_is_signed(from);
        uint64_t all = is_signed ? (uint64_t)sign_extend(bits, from) : bits;
        double high = is_signed ? (double)(int32_t)(all >> 32) : (double)(all >> 32);
        double low = (uint32_t)all, sum = 0x1p32 * high + low;
        double error = sum_error(0x1p32 * high, low, sum);
        if (to == PTX_TYPE_f64)
            return bits_of_f64(correct(sum, error, rnd));
        double odd = odd_sum(sum, error);
        if (to != PTX_TYPE_f32)
            return double_to_float(odd, to, mode);
        float r = narrow(odd, rnd);
        return bits_of_f32(mode & MODE_SAT ? lane_sat(r) : r);
    }
    float single = 0;
    double value;
    if (from == PTX_TYPE_f64) {
        value = f64_of_bits(bits);
        if (value != value && to == PTX_TYPE_f32 && !(mode & MODE_SAT))
            return bits_of_f32((float)value); /* with the upper bits of the payload (H200) */
    } else {
        single = from == PTX_TYPE_f16    ? lane_f32_from_f16((uint32_t)bits)
                 : from == PTX_TYPE_bf16 ? lane_f32_from_bf16((uint32_t)bits)
                                         : f32_of_bits((uint32_t)bits);
        if (from == PTX_TYPE_bf16 && to == PTX_TYPE_f32 && !mode)
            return bits_of_f32(single); /* with the payload of a NaN */
        if (mode & MODE_FTZ && from == PTX_TYPE_f32)
            single = lane_ftz(single);
        value = (double)single;
    }
    if (!is_float(to))
        return float_to_integer(value, to, from, mode);
    if (mode & MODE_TO_INTEGER) {
        value = lane_integral(value, mode);
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
