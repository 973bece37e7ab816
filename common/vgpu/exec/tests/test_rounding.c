/* Tests of directed rounding (rounding.h) against the processor in the same mode, which is the
 * definition. Operands are chosen so that rare cases are frequent: subnormals, powers of two, sums
 * that cancel, results halfway between two numbers or close to one, infinities and NaNs. */
#include "base/rng.h"
#include "vgpu/exec/lanes.h"
#include "vgpu/exec/rounding.h"

#include <criterion/criterion.h>
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 512 };

static const struct {
    enum ir_rounding rounding;
    int mode;
    const char *name;
} modes[] = {{RND_RN, FE_TONEAREST, "rn"},
             {RND_RZ, FE_TOWARDZERO, "rz"},
             {RND_RM, FE_DOWNWARD, "rm"},
             {RND_RP, FE_UPWARD, "rp"}};
enum { MODES = sizeof modes / sizeof *modes };

/* ---- operands -------------------------------------------------------------------------------- */

/* A format of floats: its bits are a sign, an exponent and a fraction. */
struct format {
    int fraction, exponent;
};
static const struct format f32_format = {23, 8}, f64_format = {52, 11};

static u64 pick_fraction(struct rng *rng, int bits)
{
    const u64 all = ((u64)1 << bits) - 1, one = (u64)1 << rng_range(rng, 0, bits - 1);
    switch (rng_range(rng, 0, 7)) {
    case 0:
        return 0;
    case 1:
        return all;
    case 2:
        return one;
    case 3:
        return all ^ one;
    case 4: /* few bits, so that products and quotients are exact or halfway */
        return rng_u64(rng) & all & ~(all >> rng_range(rng, 1, bits / 2 + 2));
    case 5:
        return (rng_u64(rng) & all & ~(all >> rng_range(rng, 1, bits / 2 + 2))) + 1;
    default:
        return rng_u64(rng) & all;
    }
}

static u64 pick_exponent(struct rng *rng, const struct format *f)
{
    const int most = (1 << f->exponent) - 1, bias = most / 2;
    switch (rng_range(rng, 0, 9)) {
    case 0:
        return (u64)rng_range(rng, 0, 3);
    case 1:
        return (u64)rng_range(rng, most - 6, most);
    case 2: /* where results become too small for an exact error: 2^-960 */
        return (u64)(f->fraction == 52 ? rng_range(rng, bias - 963, bias - 957)
                                       : rng_range(rng, 0, 2 * f->fraction + 3));
    case 3: /* products of two are that small, or subnormal */
        return (u64)rng_range(rng, bias / 2 - f->fraction - 2, bias / 2 + f->fraction + 2);
    case 4:
        return (u64)rng_range(rng, 0, most);
    case 5: /* square roots of the largest numbers */
        return (u64)rng_range(rng, bias + bias / 2 - 3, bias + bias / 2 + 3);
    case 6:
    case 7:
        return (u64)rng_range(rng, bias - 2 * f->fraction - 4, bias + 2 * f->fraction + 4);
    default:
        return (u64)rng_range(rng, bias - 3, bias + 3);
    }
}

static u64 pick_number(struct rng *rng, const struct format *f)
{
    const u64 sign = rng_u64(rng) & 1;
    return (sign << f->exponent | pick_exponent(rng, f)) << f->fraction |
           pick_fraction(rng, f->fraction);
}

static double value_of(u64 bits, const struct format *f)
{
    return f->fraction == 52 ? f64_of_bits(bits) : f32_of_bits((u32)bits);
}

/* @return the bits of a number close to x in relation to its precision, or to x times a power of
 * two that moves it by about one precision. */
static u64 pick_near(struct rng *rng, double x, const struct format *f)
{
    const int p = f->fraction + 1;
    static const int moves[] = {0, 0, 0, 1, -1, 2, -2};
    int move = moves[rng_range(rng, 0, 6)];
    x = ldexp(x, (move > 0 ? 1 : move < 0 ? -1 : 0) * (p * abs(move) + rng_range(rng, -2, 2)));
    u64 bits = f->fraction == 52 ? bits_of_f64(x) : bits_of_f32((float)x);
    return bits + (u64)(s64)rng_range(rng, -2, 2);
}

static void pick_operands(struct rng *rng, const struct format *f, u64 *a, u64 *b, u64 *c)
{
    const double sign = rng_u64(rng) & 1 ? 1 : -1;
    *a = pick_number(rng, f);
    *b = pick_number(rng, f);
    *c = pick_number(rng, f);
    switch (rng_range(rng, 0, 6)) {
    case 0: /* a sum that cancels, or whose second term is below the first one's precision */
        *b = pick_near(rng, sign * value_of(*a, f), f);
        break;
    case 1: /* the same for a product plus a number */
    case 2:
        *c = pick_near(rng, sign * value_of(*a, f) * value_of(*b, f), f);
        break;
    case 3: /* a quotient near a number of few bits */
        *a = pick_near(rng, value_of(*b, f) * value_of(*c, f), f);
        break;
    case 4: /* a square root near such a number */
        *a = pick_near(rng, value_of(*b, f) * value_of(*b, f), f);
        break;
    default:
        break;
    }
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static const struct {
    enum lane_operation op;
    const char *name;
} operations[] = {{LANE_ADD, "add"}, {LANE_SUB, "sub"}, {LANE_MUL, "mul"},
                  {LANE_DIV, "div"}, {LANE_FMA, "fma"}, {LANE_SQRT, "sqrt"}};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* volatile keeps the computation between the changes of the mode. */
#define REFERENCE(NAME, TYPE, OF_BITS, TO_BITS, FMA, SQRT)                                         \
    static u64 NAME(enum lane_operation op, u64 x, u64 y, u64 z)                                   \
    {                                                                                              \
        volatile TYPE a = OF_BITS(x), b = OF_BITS(y), c = OF_BITS(z);                              \
        volatile TYPE r = op == LANE_ADD   ? a + b                                                 \
                          : op == LANE_SUB ? a - b                                                 \
                          : op == LANE_MUL ? a * b                                                 \
                          : op == LANE_DIV ? a / b                                                 \
                          : op == LANE_FMA ? FMA(a, b, c)                                          \
                                           : SQRT(a);                                              \
        return TO_BITS(r);                                                                         \
    }
#define LOW(x) f32_of_bits((u32)(x))
REFERENCE(reference_f32, float, LOW, bits_of_f32, fmaf, sqrtf)
REFERENCE(reference_f64, double, f64_of_bits, bits_of_f64, fma, sqrt)

static u64 rounded_f32(enum lane_operation op, u64 a, u64 b, u64 c, enum ir_rounding rounding)
{
    return bits_of_f32(round_f32(op, LOW(a), LOW(b), LOW(c), rounding));
}

static u64 rounded_f64(enum lane_operation op, u64 a, u64 b, u64 c, enum ir_rounding rounding)
{
    return bits_of_f64(round_f64(op, f64_of_bits(a), f64_of_bits(b), f64_of_bits(c), rounding));
}

/* The bits of a NaN are those of the caller (lane_nan_f32(), lane_nan_f64()). */
static bool is_same(u64 got, u64 want, const struct format *f)
{
    double x = value_of(got, f), y = value_of(want, f);
    return got == want || (x != x && y != y);
}

static void compare_operation(int op, int mode, const struct format *f, u64 (*operands)[3])
{
    const bool wide = f->fraction == 52;
    u64 want[BATCH];
    fesetround(modes[mode].mode);
    for (int i = 0; i < BATCH; i++)
        want[i] = (wide ? reference_f64 : reference_f32)(operations[op].op, operands[i][0],
                                                         operands[i][1], operands[i][2]);
    fesetround(FE_TONEAREST);
    for (int i = 0; i < BATCH; i++) {
        const u64 *o = operands[i];
        u64 got = (wide ? rounded_f64 : rounded_f32)(operations[op].op, o[0], o[1], o[2],
                                                     modes[mode].rounding);
        if (!is_same(got, want[i], f))
            cr_assert_fail("%s.%s.f%d of %a, %a, %a: expected %a, got %a", operations[op].name,
                           modes[mode].name, wide ? 64 : 32, value_of(o[0], f), value_of(o[1], f),
                           value_of(o[2], f), value_of(want[i], f), value_of(got, f));
    }
}

/* @return how often a test tries 512 random operands: ROUNDING_BATCHES, for a longer test by
 * hand. */
static long batches(long usual)
{
    const char *text = getenv("ROUNDING_BATCHES");
    return text ? atol(text) : usual;
}

static struct rng start(const char *test)
{
    const char *text = getenv("CONVLAB_SEED");
    const u64 seed = text ? strtoull(text, NULL, 10) : rng_fresh_seed();
    printf("%s: seed %llu\n", test, (unsigned long long)seed);
    fflush(stdout);
    return rng_make(seed, 1);
}

static void compare_operations(struct rng *rng, const struct format *f)
{
    static u64 operands[BATCH][3];
    for (long n = batches(1000); n > 0; n--) {
        for (int i = 0; i < BATCH; i++)
            pick_operands(rng, f, &operands[i][0], &operands[i][1], &operands[i][2]);
        for (int op = 0; op < OPERATIONS; op++)
            for (int mode = 0; mode < MODES; mode++)
                compare_operation(op, mode, f, operands);
    }
}

Test(rounding, float32_operations_are_those_of_the_processor)
{
    struct rng rng = start("float32");
    compare_operations(&rng, &f32_format);
}

Test(rounding, float64_operations_are_those_of_the_processor)
{
    struct rng rng = start("float64");
    compare_operations(&rng, &f64_format);
}

/* ---- conversions ----------------------------------------------------------------------------- */

static u64 pick_integer(struct rng *rng)
{
    u64 x = rng_u64(rng) >> rng_range(rng, 0, 63);
    if (rng_range(rng, 0, 1)) /* near a number of few bits, so that halfway cases are frequent */
        x = (x & ~(~(u64)0 >> rng_range(rng, 1, 63))) + (u64)(s64)rng_range(rng, -1, 1);
    return rng_range(rng, 0, 1) ? x : 0 - x;
}

static u64 reference_conversion(u64 bits, enum ptx_type to, enum ptx_type from)
{
    volatile s64 s = from == PTX_TYPE_s32 ? (s32)bits : (s64)bits;
    volatile u64 u = from == PTX_TYPE_u32 ? (u32)bits : bits;
    volatile double d = f64_of_bits(bits);
    if (to == PTX_TYPE_f64) {
        volatile double r = ptx_type_is_signed(from) ? (double)s : (double)u;
        return bits_of_f64(r);
    }
    volatile float r = from == PTX_TYPE_f64       ? (float)d
                       : ptx_type_is_signed(from) ? (float)s
                                                  : (float)u;
    return bits_of_f32(r);
}

Test(rounding, conversions_are_those_of_the_processor)
{
    static const enum ptx_type from[] = {PTX_TYPE_u32, PTX_TYPE_s32, PTX_TYPE_u64, PTX_TYPE_s64,
                                         PTX_TYPE_f64};
    struct rng rng = start("conversions");
    for (long n = batches(200) * BATCH; n > 0; n--) {
        const u64 integer = pick_integer(&rng);
        u64 number = pick_number(&rng, &f64_format);
        if (rng_range(&rng, 0, 1)) /* near a float32 */
            number = bits_of_f64(LOW(pick_number(&rng, &f32_format))) +
                     (u64)(s64)rng_range(&rng, -1, 1) * ((u64)1 << rng_range(&rng, 0, 29));
        for (int k = 0; k < 5 * 2 * MODES; k++) {
            const enum ptx_type source = from[k % 5], to = k / 5 % 2 ? PTX_TYPE_f32 : PTX_TYPE_f64;
            const int mode = k / 10;
            const u64 bits = source == PTX_TYPE_f64 ? number : integer;
            if (source == to)
                continue;
            fesetround(modes[mode].mode);
            const u64 want = reference_conversion(bits, to, source);
            fesetround(FE_TONEAREST);
            const u64 got = convert_bits(bits, to, source, modes[mode].rounding);
            if (got != want)
                cr_assert_fail("cvt.%s from type %d of %llx: expected %llx, got %llx",
                               modes[mode].name, source, (unsigned long long)bits,
                               (unsigned long long)want, (unsigned long long)got);
        }
    }
}

/* A bfloat16 has the exponents of a float32, so the largest integers have one. */
Test(rounding, integers_become_the_neighbouring_bfloat16)
{
    struct rng rng = start("bfloat16");
    for (int i = 0; i < 200000; i++) {
        const u64 x = pick_integer(&rng);
        const u32 down = (u32)convert_bits(x, PTX_TYPE_bf16, PTX_TYPE_u64, RND_RM);
        const u32 up = (u32)convert_bits(x, PTX_TYPE_bf16, PTX_TYPE_u64, RND_RP);
        const u32 zero = (u32)convert_bits(x, PTX_TYPE_bf16, PTX_TYPE_u64, RND_RZ);
        const u32 nearest = (u32)convert_bits(x, PTX_TYPE_bf16, PTX_TYPE_u64, RND_RN);
        const unsigned __int128 low = (unsigned __int128)lane_f32_from_bf16(down),
                                high = (unsigned __int128)lane_f32_from_bf16(up);
        cr_assert(low <= x && x <= high && zero == down, "%llx", (unsigned long long)x);
        cr_assert_eq(up - down, low != x, "%llx", (unsigned long long)x);
        const bool is_up = x - low > high - x || (x - low == high - x && down % 2);
        cr_assert_eq(nearest, is_up ? up : down, "%llx", (unsigned long long)x);
    }
}

Test(rounding, integral_values_are_those_of_the_c_library)
{
    static double (*const want[])(double) = {
        [RND_RN] = nearbyint, [RND_RZ] = trunc, [RND_RM] = floor, [RND_RP] = ceil};
    struct rng rng = start("integral values");
    for (long n = batches(200) * BATCH; n > 0; n--) {
        double x = f64_of_bits(pick_number(&rng, &f64_format));
        if (rng_range(&rng, 0, 1)) /* halves, and their neighbours */
            x = nextafter((double)(s64)pick_integer(&rng) / 2, x);
        for (int mode = 0; mode < MODES; mode++) {
            const enum ir_rounding rounding = modes[mode].rounding;
            const u64 got = bits_of_f64(lane_integral(x, rounding));
            if (got != bits_of_f64(want[rounding](x)))
                cr_assert_fail("%s of %a gives %a", modes[mode].name, x, f64_of_bits(got));
        }
    }
}

/* @return whether a float32 is the nearest to @p want; a neighbour is right if want is halfway. */
static bool is_nearest(f32 got, f64 want)
{
    const f64 error = fabs((f64)got - want),
              ulp = (f64)nextafterf(fabsf(got), INFINITY) - fabs((f64)got);
    return got == (f32)want || (got != got && want != want) || error < (0.5 + 1e-3) * ulp;
}

Test(rounding, powers_of_two_and_logarithms_are_the_nearest_numbers)
{
    struct rng rng = start("exponential");
    for (int i = -149; i < 128; i++)
        cr_assert(lane_exp2((f32)i) == ldexpf(1, i) && lane_log2(ldexpf(1, i)) == (f32)i, "2^%d",
                  i);
    cr_assert(lane_exp2(-INFINITY) == 0 && lane_exp2(INFINITY) == INFINITY &&
              lane_log2(0) == -INFINITY);
    cr_assert(lane_log2(INFINITY) == INFINITY && lane_log2(-1) != lane_log2(-1));
    for (long n = batches(200) * BATCH; n > 0; n--) {
        f32 x = f32_of_bits((u32)pick_number(&rng, &f32_format));
        if (rng_range(&rng, 0, 1)) /* most powers are neither 0 nor infinite */
            x = fmodf(x, 150);
        if (!is_nearest(lane_exp2(x), exp2((f64)x)))
            cr_assert_fail("2^%a gives %a", (f64)x, (f64)lane_exp2(x));
        if (!is_nearest(lane_log2(x), log2((f64)x)))
            cr_assert_fail("the logarithm of %a gives %a", (f64)x, (f64)lane_log2(x));
    }
}

/* ---- rows of casts --------------------------------------------------------------------------- */

#define LANE1(...)
#define LANE2(...)
#define LANE3(...)
#define LANE4(...)
#define CAST(ID, REQUIRED, OPTIONAL, CLASS, SLOTS, D, A, EXPR)                                     \
    static u64 cast_##ID(u64 bits, u32 mode)                                                       \
    {                                                                                              \
        A a;                                                                                       \
        u64 r = 0;                                                                                 \
        (void)mode;                                                                                \
        memcpy(&a, &bits, sizeof a);                                                               \
        const D d = (D)(EXPR);                                                                     \
        memcpy(&r, &d, sizeof d);                                                                  \
        return r;                                                                                  \
    }
#include "vgpu/ptx/opcodes.def"
#define LANE1(...)
#define LANE2(...)
#define LANE3(...)
#define LANE4(...)
#define CAST(ID, REQUIRED, OPTIONAL, CLASS, SLOTS, D, A, EXPR)                                     \
    {#ID, REQUIRED, OPTIONAL, #D, cast_##ID},
static const struct cast {
    const char *id, *required, *optional, *d;
    u64 (*compute)(u64 bits, u32 mode);
} casts[] = {
#include "vgpu/ptx/opcodes.def"
};
enum { CASTS = sizeof casts / sizeof *casts };

/* @return the result of row CVT in a register of a cast's destination. */
static u64 general_conversion(const struct cast *cast, u64 bits, enum ptx_type to,
                              enum ptx_type from, u32 mode)
{
    const unsigned unused = 64 - 8 * (unsigned)ptx_type_bytes(to);
    const u64 r = convert_bits(bits, to, from, mode);
    const u64 wide = ptx_type_is_signed(to) ? (u64)((s64)(r << unused) >> unused) : r;
    return strcmp(cast->d, "h16") == 0 ? wide & 0xffff : strstr(cast->d, "64") ? wide : (u32)wide;
}

static u64 pick_bits(struct rng *rng, enum ptx_type type)
{
    if (type == PTX_TYPE_f64)
        return pick_number(rng, &f64_format);
    if (type == PTX_TYPE_f32) { /* quiet: only cvt.tf32 keeps a signalling NaN */
        const u64 bits = pick_number(rng, &f32_format);
        return bits | ((bits & 0x7fffffff) > 0x7f800000 ? 0x400000 : 0);
    }
    return rng_range(rng, 0, 1) ? rng_u64(rng) : pick_integer(rng);
}

static void check_cast(struct rng *rng, const struct cast *cast, enum ptx_type to,
                       enum ptx_type from, u32 mode)
{
    for (int n = 0; n < 2000; n++) {
        const u64 bits = pick_bits(rng, from), got = cast->compute(bits, mode),
                  want = general_conversion(cast, bits, to, from, mode);
        if (got != want)
            cr_assert_fail("%s of %llx, mode %x: expected %llx, got %llx", cast->id,
                           (unsigned long long)bits, mode, (unsigned long long)want,
                           (unsigned long long)got);
    }
}

/* @return the words of a list "a|b", one after the other; NULL at its end. */
static const char *next_word(const char **list, char word[16])
{
    const size_t n = strcspn(*list, "| ");
    if (!n)
        return NULL;
    snprintf(word, 16, "%.*s", (int)n, *list);
    *list += n + ((*list)[n] == '|');
    return word;
}

static enum ptx_type type_of_word(const char *word)
{
    return ptx_type_find(word, strlen(word));
}

Test(rounding, casts_are_the_general_conversion)
{
    static const struct {
        const char *word;
        u32 mode;
    } rounded[] = {{"rn", RND_RN},
                   {"rna", RND_RNA},
                   {"rni", RND_RN | MODE_TO_INTEGER},
                   {"rzi", RND_RZ | MODE_TO_INTEGER},
                   {"rmi", RND_RM | MODE_TO_INTEGER},
                   {"rpi", RND_RP | MODE_TO_INTEGER},
                   {"", RND_NONE}};
    struct rng rng = start("casts");
    int tested = 0;
    for (const struct cast *c = casts; c < casts + CASTS; c++) {
        const bool is_rounded = c->required[0] == 'r';
        const char *to_list = is_rounded ? strchr(c->required, ' ') + 1 : c->required;
        char to[16], from[16];
        for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++) {
            const char *roundings = c->required, *w;
            char word[16] = "";
            bool has = !is_rounded && !rounded[i].word[0];
            while (is_rounded && !has && (w = next_word(&roundings, word)))
                has = strcmp(w, rounded[i].word) == 0;
            for (const char *t = to_list; has && next_word(&t, to);) {
                for (const char *f = strchr(to_list, ' ') + 1; next_word(&f, from); tested++) {
                    const u32 mode = rounded[i].mode;
                    check_cast(&rng, c, type_of_word(to), type_of_word(from), mode);
                    if (strstr(c->optional, "ftz"))
                        check_cast(&rng, c, type_of_word(to), type_of_word(from), mode | MODE_FTZ);
                    if (strstr(c->optional, "sat"))
                        check_cast(&rng, c, type_of_word(to), type_of_word(from), mode | MODE_SAT);
                }
            }
        }
    }
    cr_assert_gt(tested, CASTS);
}
