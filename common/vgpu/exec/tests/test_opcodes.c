/* Tests of instructions against results that the host computes: one small kernel per opcode, three
 * sources, random and special bits, full and half-empty warps, for every instruction set of this
 * machine. */
#include "base/rng.h"
#include "vgpu/exec/lanes.h"
#include "vgpu/exec/tests/gpu.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* Where __float128 is missing (AArch64), long double has the same 113 bits. */
#ifdef __SIZEOF_FLOAT128__
typedef __float128 quadruple;
#else
typedef long double quadruple;
#endif

enum { N = 256 };

struct row {
    const char
        *text;      /* %d, %a, %b, %c are the registers; several instructions are in { .reg ... } */
    int d, a, b, c; /* bytes of each register: 4 (even if it has 16 bits) or 8; 0: not used */
    char kind;      /* of the sources: f float32, d float64, i anything else; see pick() */
    u64 (*expected)(u64 a, u64 b, u64 c);
};

#define F(x)     f32_of_bits((u32)(x))
#define D(x)     f64_of_bits(x)
#define NAME(id) expected_##id
#define WANT(id, EXPR)                                                                             \
    static u64 NAME(id)(u64 a, u64 b, u64 c)                                                       \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return (u64)(EXPR);                                                                        \
    }

static u64 one_nan(float x)
{
    return x != x ? 0x7fffffff : bits_of_f32(x);
}

/* float64 arithmetic gives the first operand that is a NaN, made quiet; an H100 tries the operands
 * in this order. */
static u64 first_nan(f64 r, u64 first, u64 second, u64 third)
{
    const u64 order[] = {first, second, third};
    for (int i = 0; i < 3; i++)
        if ((order[i] & 0x7fffffffffffffff) > 0x7ff0000000000000)
            return order[i] | 0x0008000000000000;
    return r != r ? 0xfff8000000000000 : bits_of_f64(r);
}

static u64 reverse(u64 x, int n)
{
    u64 r = 0;
    for (int i = 0; i < n; i++)
        r |= (x >> i & 1) << (n - 1 - i);
    return r;
}

static u32 permute(u32 a, u32 b, u32 s)
{
    u32 r = 0;
    for (int i = 0; i < 4; i++) {
        u32 k = s >> 4 * i & 15, byte = (k & 4 ? b : a) >> 8 * (k & 3) & 255;
        r |= (k & 8 ? (byte & 128 ? 255 : 0) : byte) << 8 * i;
    }
    return r;
}

/* @return the sum of the absolute differences of the 16-bit halves of a and b, plus c. */
static u32 sad_halves(u64 a, u64 b, u64 c)
{
    int low = abs((int)(a & 0xffff) - (int)(b & 0xffff));
    int high = abs((int)(a >> 16 & 0xffff) - (int)(b >> 16 & 0xffff));
    return (u32)low + (u32)high + (u32)c;
}

static s64 clamp(double x, double low, double high)
{
    return x != x ? 0 : x < low ? (s64)low : x > high ? (s64)high : (s64)x;
}

WANT(add, (u32)(a + b))
WANT(mulhi, (u64)((s64)(s32)a *(s32)b) >> 32 & 0xffffffff)
WANT(wide, (s64)(s32)a *(s32)b)
WANT(wideu, (u64)(u32)a *(u32)b)
WANT(madwide, (u64)((s64)(s32)a *(s32)b) + c)
WANT(mulhi64, (unsigned __int128)a *b >> 64)
WANT(div, (u32)b ? (u32)a / (u32)b : 0xffffffff)
WANT(divs, (u32)((s32)b == 0 ? -1 : (s32)b == -1 ? -(s64)(s32)a : (s32)a / (s32)b))
WANT(rem, (u32)b ? (u32)a % (u32)b : (u32)a)
WANT(rems, (u32)((s32)b == 0 ? (s32)a : (s32)b == -1 ? 0 : (s32)a % (s32)b))
WANT(divs64, b == 0 ? ~(u64)0 : (s64)b == -1 ? 0 - a : (u64)((s64)a / (s64)b))
WANT(shl, (b & 0xffffffff) > 31 ? 0 : (u32)((u32)a << b))
WANT(shrs, (u32)((s32)a >> ((u32)b > 31 ? 31 : (u32)b)))
WANT(shl64, (u32)b > 63 ? 0 : a << b)
WANT(popc, (u32)__builtin_popcount((u32)a))
WANT(clz64, a ? (u32)__builtin_clzll(a) : 64u)
WANT(brev, reverse(a, 32))
WANT(brev64, reverse(a, 64))
WANT(bfind, (u32)a ? 31u - (u32)__builtin_clz((u32)a) : 0xffffffffu)
WANT(shiftamt, (u32)a == 0 || (u32)a == 0xffffffff
                   ? 0xffffffff
                   : (u32)__builtin_clz((s32)a < 0 ? ~(u32)a : (u32)a))
#define H(x, i)           ((s64)(int16_t)((x) >> 16 * (i)))
#define B(x, i)           ((s64)(int8_t)((x) >> 8 * (i)))
#define UB(x, i)          ((s64)(uint8_t)((x) >> 8 * (i)))
#define UH(x, i)          ((s64)(uint16_t)((x) >> 16 * (i)))
#define S(x)              ((s64)(s32)(x))
#define U(x)              ((s64)(u32)(x))
#define LEAST(x, y)       ((x) < (y) ? (x) : (y))
#define MOST(x, y)        ((x) > (y) ? (x) : (y))
#define SAT(x, low, high) MOST(LEAST(x, high), low)
WANT(vadd, (u32)(H(a, 1) + UB(b, 2)))
WANT(vadd_sat, (u32)SAT(S(a) + S(b), INT32_MIN, INT32_MAX))
WANT(vsub, (u32)MOST(SAT(U(a) - U(b), 0, UINT32_MAX), U(c)))
WANT(vabsdiff, (u32)(llabs(B(a, 3) - H(b, 0)) + U(c)))
WANT(vmin, ((u32)c & 0xffff00ff) | ((u32)SAT(LEAST(S(a), S(b)), -128, 127) & 0xff) << 8)
WANT(vmax, ((u32)c & 0xffff) | (u32)MOST(UB(a, 0), S(b)) << 16)
WANT(vshl, (u32)LEAST((u64)U(a) << LEAST(UB(b, 0), 32), (u64)UINT32_MAX))
WANT(vshr, (u32)LEAST(S(a) >> (b & 31), S(c)))
WANT(vmad, (u32)SAT((S(a) * UH(b, 1) + S(c)) >> 7, INT32_MIN, INT32_MAX))
WANT(vmad_po, (u32)(U(a) * U(b) + U(c) + 1))
WANT(vset, (u32)((S(a) < UH(b, 0)) + U(c)))
WANT(vadd2, ((u32)SAT(H(a, 0) + H(b, 0), -32768, 32767) & 0xffff) |
                (u32)SAT(H(a, 1) + H(b, 1), -32768, 32767) << 16)
WANT(vsub4, (u32)(UB(a, 0) - UB(b, 0) + UB(a, 1) - UB(b, 1) + UB(a, 2) - UB(b, 2) + UB(a, 3) -
                  UB(b, 3) + U(c)))
WANT(vset4, (u32)((UB(a, 0) >= B(b, 0)) | (UB(a, 1) >= B(b, 1)) << 8 | (UB(a, 2) >= B(b, 2)) << 16 |
                  (UB(a, 3) >= B(b, 3)) << 24))
WANT(prmt, permute((u32)a, (u32)b, (u32)c))
WANT(lop3, ((u32)a & (u32)b) ^ (u32)c)
WANT(sad, (u32)(c + (u32)llabs((s64)(s32)a - (s32)b)))
WANT(sad2, sad_halves(a, b, c))
WANT(diff2, sad_halves(a & 0xffff, b & 0xffff, 0) |
                sad_halves(a >> 16 & 0xffff, b >> 16 & 0xffff, 0) << 16)
WANT(minu, (u32)a < (u32)b ? (u32)a : (u32)b)
/* in both halves, the smaller or larger number, but not less than 0 */
static u32 relu_halves(u32 a, u32 b, bool larger)
{
    u32 d = 0;
    for (int at = 0; at < 32; at += 16) {
        const int16_t x = (int16_t)(a >> at), y = (int16_t)(b >> at);
        const int16_t z = (x > y) == larger ? x : y;
        d |= (u32)(z > 0 ? z : 0) << at;
    }
    return d;
}
WANT(minrelu, relu_halves((u32)a, (u32)b, false))
WANT(maxrelu, relu_halves((u32)a, (u32)b, true))
WANT(maxs64, (s64)a > (s64)b ? a : b)
WANT(bfe, (u32)((u32)a >> 5 & 0x7ff))
WANT(szext_clamp, (u32)b > 31 ? (u32)a : (u32)a & ~(~(u64)0 << (u32)b))
WANT(szext_wrap, (u32)a & ~(~(u64)0 << (b & 31)))
WANT(szexts_clamp, (u32)b > 31 ? (u32)a : b ? (u32)((s32)((u32)a << (32 - b)) >> (32 - b)) : 0)
WANT(szexts_wrap, b & 31 ? (u32)((s32)((u32)a << (32 - (b & 31))) >> (32 - (b & 31))) : 0)
WANT(bfes, (u32)((s32)((u32)a << 16) >> 21))
WANT(bfi, ((u32)b & ~0x7fe0u) | ((u32)a << 5 & 0x7fe0))
WANT(shf, (u32)((((b & 0xffffffff) << 32 | (u32)a) << ((u32)c & 31)) >> 32))
WANT(fadd, one_nan(F(a) + F(b)))
WANT(fmul, one_nan(F(a) * F(b)))
WANT(ffma, one_nan(fmaf(F(a), F(b), F(c))))
WANT(fdiv, one_nan(F(a) / F(b)))
WANT(fsqrt, one_nan(sqrtf(F(a))))
WANT(fmin, one_nan(F(a) != F(a)   ? F(b)
                   : F(b) != F(b) ? F(a)
                   : F(a) == F(b) ? (signbit(F(a)) ? F(a) : F(b))
                                  : fminf(F(a), F(b))))
WANT(dadd, first_nan(D(a) + D(b), b, a, a))
WANT(dfma, first_nan(fma(D(a), D(b), D(c)), b, c, a))
WANT(ddiv, first_nan(D(a) / D(b), a, b, b))
WANT(f2i, (u32)(s32)clamp(nearbyint((double)F(a)), -2147483648.0, 2147483647.0))
WANT(f2u, (u32)clamp(trunc((double)F(a)), 0, 4294967295.0))
WANT(i2f, bits_of_f32((float)(s32)a))
WANT(u642d, bits_of_f64((double)a))
WANT(d2f, bits_of_f32((float)D(a)))
WANT(pair16, convert_pair(F(a), F(b), PTX_TYPE_f16x2, RND_RN))
WANT(pairb16, convert_pair(F(a), F(b), PTX_TYPE_bf16x2, RND_RN))
WANT(f2b16, convert_bits((u32)a, PTX_TYPE_bf16, PTX_TYPE_f32, RND_RN))
WANT(s322f16, convert_bits((u32)a, PTX_TYPE_f16, PTX_TYPE_s32, RND_RN))
WANT(u322f16, convert_bits((u32)a, PTX_TYPE_f16, PTX_TYPE_u32, RND_RN))
WANT(s162f16, convert_bits((u32)a & 0xffff, PTX_TYPE_f16, PTX_TYPE_s16, RND_RN))
WANT(u162f16, convert_bits((u32)a & 0xffff, PTX_TYPE_f16, PTX_TYPE_u16, RND_RN))
WANT(f2tf32, convert_bits((u32)a, PTX_TYPE_tf32, PTX_TYPE_f32, RND_RNA))
WANT(hfma2, lane_half2(LANE_FMA, (u32)a, (u32)b, (u32)c, 0))
WANT(hfma2_relu, lane_half2(LANE_FMA, (u32)a, (u32)b, (u32)c, MODE_FTZ | MODE_RELU))
WANT(bfma2, lane_bhalf2(LANE_FMA, (u32)a, (u32)b, (u32)c, 0))
WANT(sext, (s64)(int8_t)a)
WANT(carry, a + b)
WANT(borrow, a - b)
WANT(not_borrowed, a >= b)
WANT(setp, F(a) < F(b) ? (u32)c : 7)
WANT(setpu, !(F(a) >= F(b)) ? (u32)c : 7)
WANT(slct, (s32)c >= 0 ? (u32)a : (u32)b)
WANT(mapa, a & 0xffc)
WANT(is_cluster, 0)

static const struct row rows[] = {
    {"add.u32 %d, %a, %b;", 4, 4, 4, 0, 'i', NAME(add)},
    {"mul.hi.s32 %d, %a, %b;", 4, 4, 4, 0, 'i', NAME(mulhi)},
    {"mul.wide.s32 %d, %a, %b;", 8, 4, 4, 0, 'i', NAME(wide)},
    {"mul.wide.u32 %d, %a, %b;", 8, 4, 4, 0, 'i', NAME(wideu)},
    {"mad.wide.s32 %d, %a, %b, %c;", 8, 4, 4, 8, 'i', NAME(madwide)},
    {"mul.hi.u64 %d, %a, %b;", 8, 8, 8, 0, 'i', NAME(mulhi64)},
    {"div.u32 %d, %a, %b;", 4, 4, 4, 0, 'i', NAME(div)},
    {"div.s32 %d, %a, %b;", 4, 4, 4, 0, 'i', NAME(divs)},
    {"rem.u32 %d, %a, %b;", 4, 4, 4, 0, 'i', NAME(rem)},
    {"rem.s32 %d, %a, %b;", 4, 4, 4, 0, 'i', NAME(rems)},
    {"div.s64 %d, %a, %b;", 8, 8, 8, 0, 'i', NAME(divs64)},
    {"shl.b32 %d, %a, %b;", 4, 4, 4, 0, 'i', NAME(shl)},
    {"shr.s32 %d, %a, %b;", 4, 4, 4, 0, 'i', NAME(shrs)},
    {"shl.b64 %d, %a, %b;", 8, 8, 4, 0, 'i', NAME(shl64)},
    {"popc.b32 %d, %a;", 4, 4, 0, 0, 'i', NAME(popc)},
    {"clz.b64 %d, %a;", 4, 8, 0, 0, 'i', NAME(clz64)},
    {"brev.b32 %d, %a;", 4, 4, 0, 0, 'i', NAME(brev)},
    {"brev.b64 %d, %a;", 8, 8, 0, 0, 'i', NAME(brev64)},
    {"bfind.shiftamt.s32 %d, %a;", 4, 4, 0, 0, 'i', NAME(shiftamt)},
    {"vadd.s32.s32.u32.sat %d, %a.h1, %b.b2;", 4, 4, 4, 0, 'i', NAME(vadd)},
    {"vadd.s32.s32.s32.sat %d, %a, %b;", 4, 4, 4, 0, 'i', NAME(vadd_sat)},
    {"vsub.u32.u32.u32.sat.max %d, %a, %b, %c;", 4, 4, 4, 4, 'i', NAME(vsub)},
    {"vabsdiff.u32.s32.s32.add %d, %a.b3, %b.h0, %c;", 4, 4, 4, 4, 'i', NAME(vabsdiff)},
    {"vmin.s32.s32.s32.sat %d.b1, %a, %b, %c;", 4, 4, 4, 4, 'i', NAME(vmin)},
    {"vmax.u32.u32.s32 %d.h1, %a.b0, %b, %c;", 4, 4, 4, 4, 'i', NAME(vmax)},
    {"vshl.u32.u32.u32.sat.clamp %d, %a, %b.b0;", 4, 4, 4, 0, 'i', NAME(vshl)},
    {"vshr.s32.s32.u32.wrap.min %d, %a, %b, %c;", 4, 4, 4, 4, 'i', NAME(vshr)},
    {"vmad.s32.s32.u32.sat.shr7 %d, %a, %b.h1, %c;", 4, 4, 4, 4, 'i', NAME(vmad)},
    {"vmad.u32.u32.u32.po %d, %a, %b, %c;", 4, 4, 4, 4, 'i', NAME(vmad_po)},
    {"vset.s32.u32.lt.add %d, %a, %b.h0, %c;", 4, 4, 4, 4, 'i', NAME(vset)},
    {"vadd2.s32.s32.s32.sat %d, %a, %b, %c;", 4, 4, 4, 4, 'i', NAME(vadd2)},
    {"vsub4.u32.u32.u32.add %d, %a, %b, %c;", 4, 4, 4, 4, 'i', NAME(vsub4)},
    {"vset4.u32.s32.ge %d, %a, %b, %c;", 4, 4, 4, 4, 'i', NAME(vset4)},
    {"bfind.u32 %d, %a;", 4, 4, 0, 0, 'i', NAME(bfind)},
    {"prmt.b32 %d, %a, %b, %c;", 4, 4, 4, 4, 'i', NAME(prmt)},
    {"lop3.b32 %d, %a, %b, %c, 0x6a;", 4, 4, 4, 4, 'i', NAME(lop3)},
    {"sad.s32 %d, %a, %b, %c;", 4, 4, 4, 4, 'i', NAME(sad)},
    {"vabsdiff2.u32.u32.u32 %d, %a, %b, %c;", 4, 4, 4, 4, 'i', NAME(diff2)},
    {"vabsdiff2.u32.u32.u32.add %d, %a, %b, %c;", 4, 4, 4, 4, 'i', NAME(sad2)},
    {"min.u32 %d, %a, %b;", 4, 4, 4, 0, 'i', NAME(minu)},
    {"min.s16x2.relu %d, %a, %b;", 4, 4, 4, 0, 'i', NAME(minrelu)},
    {"max.relu.s16x2 %d, %a, %b;", 4, 4, 4, 0, 'i', NAME(maxrelu)},
    {"max.s64 %d, %a, %b;", 8, 8, 8, 0, 'i', NAME(maxs64)},
    {"bfe.u32 %d, %a, 5, 11;", 4, 4, 0, 0, 'i', NAME(bfe)},
    {"szext.clamp.u32 %d, %a, %b;", 4, 4, 4, 0, 'i', NAME(szext_clamp)},
    {"szext.wrap.u32 %d, %a, %b;", 4, 4, 4, 0, 'i', NAME(szext_wrap)},
    {"szext.clamp.s32 %d, %a, %b;", 4, 4, 4, 0, 'i', NAME(szexts_clamp)},
    {"szext.wrap.s32 %d, %a, %b;", 4, 4, 4, 0, 'i', NAME(szexts_wrap)},
    {"bfe.s32 %d, %a, 5, 11;", 4, 4, 0, 0, 'i', NAME(bfes)},
    {"bfi.b32 %d, %a, %b, 5, 10;", 4, 4, 4, 0, 'i', NAME(bfi)},
    {"shf.l.wrap.b32 %d, %a, %b, %c;", 4, 4, 4, 4, 'i', NAME(shf)},
    {"add.f32 %d, %a, %b;", 4, 4, 4, 0, 'f', NAME(fadd)},
    {"mul.rn.f32 %d, %a, %b;", 4, 4, 4, 0, 'f', NAME(fmul)},
    {"fma.rn.f32 %d, %a, %b, %c;", 4, 4, 4, 4, 'f', NAME(ffma)},
    {"div.rn.f32 %d, %a, %b;", 4, 4, 4, 0, 'f', NAME(fdiv)},
    {"sqrt.rn.f32 %d, %a;", 4, 4, 0, 0, 'f', NAME(fsqrt)},
    {"min.f32 %d, %a, %b;", 4, 4, 4, 0, 'f', NAME(fmin)},
    {"add.f64 %d, %a, %b;", 8, 8, 8, 0, 'd', NAME(dadd)},
    {"fma.rn.f64 %d, %a, %b, %c;", 8, 8, 8, 8, 'd', NAME(dfma)},
    {"div.rn.f64 %d, %a, %b;", 8, 8, 8, 0, 'd', NAME(ddiv)},
    {"cvt.rni.s32.f32 %d, %a;", 4, 4, 0, 0, 'f', NAME(f2i)},
    {"cvt.rzi.u32.f32 %d, %a;", 4, 4, 0, 0, 'f', NAME(f2u)},
    {"cvt.rn.f32.s32 %d, %a;", 4, 4, 0, 0, 'i', NAME(i2f)},
    {"cvt.rn.f64.u64 %d, %a;", 8, 8, 0, 0, 'i', NAME(u642d)},
    {"cvt.rn.f32.f64 %d, %a;", 4, 8, 0, 0, 'd', NAME(d2f)},
    {"cvt.s64.s8 %d, %a;", 8, 4, 0, 0, 'i', NAME(sext)},
    {"cvt.rn.f16x2.f32 %d, %a, %b;", 4, 4, 4, 0, 'f', NAME(pair16)},
    {"cvt.rn.bf16x2.f32 %d, %a, %b;", 4, 4, 4, 0, 'f', NAME(pairb16)},
    {"{ .reg .b16 %t; cvt.rn.bf16.f32 %t, %a; cvt.u32.u16 %d, %t; }", 4, 4, 0, 0, 'f', NAME(f2b16)},
    {"{ .reg .b16 %t; cvt.rn.f16.s32 %t, %a; cvt.u32.u16 %d, %t; }", 4, 4, 0, 0, 'i',
     NAME(s322f16)},
    {"{ .reg .b16 %t; cvt.rn.f16.u32 %t, %a; cvt.u32.u16 %d, %t; }", 4, 4, 0, 0, 'i',
     NAME(u322f16)},
    {"{ .reg .b16 %t; cvt.u16.u32 %t, %a; cvt.rn.f16.s16 %t, %t; cvt.u32.u16 %d, %t; }", 4, 4, 0, 0,
     'i', NAME(s162f16)},
    {"{ .reg .b16 %t; cvt.u16.u32 %t, %a; cvt.rn.f16.u16 %t, %t; cvt.u32.u16 %d, %t; }", 4, 4, 0, 0,
     'i', NAME(u162f16)},
    {"cvt.rna.tf32.f32 %d, %a;", 4, 4, 0, 0, 'f', NAME(f2tf32)},
    {"fma.rn.f16x2 %d, %a, %b, %c;", 4, 4, 4, 4, 'i', NAME(hfma2)},
    {"fma.rn.ftz.relu.f16x2 %d, %a, %b, %c;", 4, 4, 4, 4, 'i', NAME(hfma2_relu)},
    {"fma.rn.bf16x2 %d, %a, %b, %c;", 4, 4, 4, 4, 'i', NAME(bfma2)},
    {"{ .reg .b32 l0, h0, l1, h1; mov.b64 {l0, h0}, %a; mov.b64 {l1, h1}, %b;\n"
     "add.cc.u32 l0, l0, l1; addc.u32 h0, h0, h1; mov.b64 %d, {l0, h0}; }",
     8, 8, 8, 0, 'i', NAME(carry)},
    {"{ .reg .b32 l0, h0, l1, h1; mov.b64 {l0, h0}, %a; mov.b64 {l1, h1}, %b;\n"
     "sub.cc.u32 l0, l0, l1; subc.u32 h0, h0, h1; mov.b64 %d, {l0, h0}; }",
     8, 8, 8, 0, 'i', NAME(borrow)},
    {"{ .reg .b32 l0, h0, l1, h1; mov.b64 {l0, h0}, %a; mov.b64 {l1, h1}, %b;\n"
     "sub.cc.u32 l0, l0, l1; subc.cc.u32 h0, h0, h1; addc.u32 %d, 0, 0; }",
     4, 8, 8, 0, 'i', NAME(not_borrowed)},
    {"{ .reg .pred p; setp.lt.f32 p, %a, %b; selp.b32 %d, %c, 7, p; }", 4, 4, 4, 4, 'f',
     NAME(setp)},
    {"{ .reg .pred p; setp.ltu.f32 p, %a, %b; @!p mov.b32 %d, 7; @p mov.b32 %d, %c; }", 4, 4, 4, 4,
     'f', NAME(setpu)},
    {"slct.b32.s32 %d, %a, %b, %c;", 4, 4, 4, 4, 'i', NAME(slct)},
    {"{ .reg .b32 at, rank; and.b32 at, %a, 0xffc; mapa.shared::cluster.u32 %d, at, 0;\n"
     "getctarank.shared::cluster.u32 rank, %d; add.u32 %d, %d, rank; }",
     4, 4, 0, 0, 'i', NAME(mapa)},
    {"{ .reg .pred p; mov.pred p, %is_explicit_cluster; selp.u32 %d, 1, 0, p; }", 4, 0, 0, 0, 'i',
     NAME(is_cluster)},
};

/* Replaces %d, %a, %b, %c by registers of the right width. */
static void expand(char *to, const char *text, const struct row *r)
{
    for (; *text; text++) {
        if (*text != '%' || !strchr("dabc", text[1])) {
            *to++ = *text;
            continue;
        }
        char which = *++text;
        int bytes = which == 'd' ? r->d : which == 'a' ? r->a : which == 'b' ? r->b : r->c;
        to += sprintf(to, "%%%s%c", bytes == 8 ? "q" : "w", which == 'd' ? '4' : which - 'a' + '1');
    }
    *to = '\0';
}

static void write_kernel(char *to, const struct row *r)
{
    char body[600];
    expand(body, r->text, r);
    const char *w = r->d == 8 ? "q" : "w";
    sprintf(to,
            PTX_HEAD
            ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
            ".reg .b32 %%w<9>;\n.reg .b64 %%q<12>;\n.reg .pred %%p<2>;\n"
            "ld.param.u64 %%q7, [in];\nld.param.u64 %%q8, [out];\nld.param.u32 %%w5, [n];\n"
            "mov.u32 %%w6, %%tid.x;\nsetp.ge.u32 %%p1, %%w6, %%w5;\n@%%p1 bra END;\n"
            "mul.wide.u32 %%q9, %%w6, 24;\nadd.s64 %%q9, %%q7, %%q9;\n"
            "ld.global.u64 %%q1, [%%q9];\nld.global.u64 %%q2, [%%q9+8];\n"
            "ld.global.u64 %%q3, [%%q9+16];\n"
            "cvt.u32.u64 %%w1, %%q1;\ncvt.u32.u64 %%w2, %%q2;\ncvt.u32.u64 %%w3, %%q3;\n"
            "%s\n"
            "mul.wide.u32 %%q10, %%w6, 8;\nadd.s64 %%q10, %%q8, %%q10;\n"
            "st.global.u%d [%%q10], %%%s4;\nEND: ret;\n}\n",
            body, 8 * r->d, w);
}

static u64 pick(struct rng *rng, char kind)
{
    static const float awkward[] = {0.0f,          -0.0f, 1.0f,   -1.0f,   INFINITY,
                                    -INFINITY,     NAN,   1e-42f, -1e-42f, 3e38f,
                                    2147483648.0f, 0.5f,  1.5f,   2.5f,    -2.5f};
    u64 bits = rng_u64(rng);
    int n = sizeof awkward / sizeof *awkward;
    if (kind == 'f')
        return bits % 3 ? bits_of_f32((float)((int)(bits >> 40) % 100000) / 37.0f)
                        : bits_of_f32(awkward[bits / 3 % (u64)n]);
    if (kind == 'd' && bits % 7 == 0)
        return bits & 64 ? 0x7ff8000000000123 : 0xfff4000000000456;
    if (kind == 'd')
        return bits % 3 ? bits_of_f64((double)((s64)bits >> 20) / 37.0)
                        : bits_of_f64((double)awkward[bits / 3 % 6]);
    if (bits % 11 == 0)
        return bits & 64 ? 0x80000000 : 0x7fffffff;
    return bits % 5 == 0 ? (bits >> 8) % 40 : bits % 7 == 0 ? ~(u64)0 : bits >> (bits & 31);
}

static void check(const struct row *r, u32 n)
{
    char ptx[2400];
    write_kernel(ptx, r);
    struct vg_device *d = gpu_open(1);
    struct vg_module *m = gpu_load(d, ptx);
    struct rng rng = rng_make(11, n);
    static u64 in[3 * N], out[N];
    for (int i = 0; i < 3 * N; i++)
        in[i] = pick(&rng, r->kind);
    memset(out, 0xee, sizeof out);
    struct {
        uint64_t in, out;
        u32 n;
    } p = {gpu_alloc(d, in, sizeof in), gpu_alloc(d, out, sizeof out), n};
    struct vg_launch_report report = gpu_run(d, m, "k", 1, N, &p);
    cr_assert(!report.faulted);
    gpu_read(d, out, p.out, sizeof out);
    for (u32 i = 0; i < N; i++) {
        u64 mask = r->d == 8 ? ~(u64)0 : 0xffffffffu;
        u64 want = r->expected(in[3 * i], in[3 * i + 1], in[3 * i + 2]) & mask;
        if (i >= n)
            want = 0xeeeeeeeeeeeeeeeeu & mask;
        cr_assert_eq(out[i] & mask, want, "%s element %u: %llx, %llx, %llx gives %llx, not %llx",
                     r->text, i, (unsigned long long)in[3 * i], (unsigned long long)in[3 * i + 1],
                     (unsigned long long)in[3 * i + 2], (unsigned long long)(out[i] & mask),
                     (unsigned long long)want);
    }
    vg_device_close(d);
}

static void check_target(const char *target)
{
    setenv("CONVLAB_VGPU_TARGET", target, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check(&rows[i], N);
        check(&rows[i], 51);
    }
}

Test(opcodes, give_what_the_host_computes_with_plain_instructions)
{
    check_target("base");
}

Test(opcodes, give_what_the_host_computes_with_avx2)
{
    check_target("avx2");
}

Test(opcodes, give_what_the_host_computes_with_avx512)
{
    check_target("avx512");
}

Test(halves, survive_the_way_through_float32)
{
    for (u32 h = 0; h < 65536; h++) {
        f32 x = lane_f32_from_f16(h);
        u32 back = lane_f16_from_f32(x);
        cr_assert_eq(back, (h & 0x7fff) > 0x7c00 ? 0x7fff : h, "%x -> %a -> %x", h, (double)x,
                     back);
    }
}

Test(halves, round_to_nearest_even_between_neighbours)
{
    for (u32 h = 0; h < 0x7bff; h++) {
        f64 low = lane_f32_from_f16(h), high = lane_f32_from_f16(h + 1), middle = (low + high) / 2;
        cr_assert_eq(lane_f16_from_f32((f32)middle), h & 1 ? h + 1 : h);
        cr_assert_eq(lane_f16_from_f32(nextafterf((f32)middle, 1e9f)), h + 1);
        cr_assert_eq(lane_f16_from_f32(nextafterf((f32)middle, 0)), h);
    }
    cr_assert_eq(lane_f16_from_f32(65520), 0x7c00);
    cr_assert_eq(lane_f16_from_f32(65519), 0x7bff);
}

Test(halves, fused_multiply_add_rounds_once)
{
    struct rng rng = rng_make(5, 1);
    for (int i = 0; i < 200000; i++) {
        u32 a = (u32)rng_u64(&rng) & 0x7bff, b = (u32)rng_u64(&rng) & 0xfbff,
            c = (u32)rng_u64(&rng) & 0xfbff;
        if ((a & 0x7c00) == 0x7c00 || (b & 0x7c00) == 0x7c00 || (c & 0x7c00) == 0x7c00)
            continue;
        if (i % 4 == 0) /* most of the product cancels */
            c = (lane_f16_from_f32(-lane_f32_from_f16(a) * lane_f32_from_f16(b)) + i % 3 - 1) &
                0xfbff;
        /* the 113 bits of a quadruple hold the exact result */
        quadruple exact =
            (quadruple)lane_f32_from_f16(a) * lane_f32_from_f16(b) + lane_f32_from_f16(c);
        u32 got = lane_half(LANE_FMA, a, b, c, 0);
        if ((got & 0x7fff) >= 0x7bff || exact == 0)
            continue;
        quadruple off = lane_f32_from_f16(got) - exact;
        quadruple up = lane_f32_from_f16(got + 1) - exact,
                  down = got & 0x7fff ? lane_f32_from_f16(got - 1) - exact : off;
        off = off < 0 ? -off : off;
        up = up < 0 ? -up : up;
        down = down < 0 ? -down : down;
        cr_assert(off <= up && off <= down, "%x * %x + %x gave %x", a, b, c, got);
        cr_assert((off < up && off < down) || got % 2 == 0, "%x * %x + %x gave %x", a, b, c, got);
    }
}
