/* The lane-wise rows of opcodes.def as functions for the translator.
 *
 * clang compiles this file to LLVM bitcode, which becomes part of the library
 * (common/mk/native.mk). The translator inlines these functions into its code. For each row ID
 * there are
 *
 *     vector_ID(d, a, b, c, e, mode)    computes 32 lanes, scalar_ID() one lane
 *     compare_vector_TYPE(flags, a, b, compare), compare_scalar_TYPE()
 *                                       flags[lane] = all ones or zero, for each type of a comparison
 *
 * Operands are arrays of lanes, aligned to 64 bytes, that do not overlap. Operands that a row does
 * not have are not read. The loops over 32 lanes become operations on a vector of 32 elements. The
 * arrays are variables of the caller, so only the operation remains of an inlined function. */
#include "vgpu/native/lane_functions.h"

#include <math.h>

#define DECLARE_MATH(NAME) float native_##NAME(float);
NATIVE_MATH(DECLARE_MATH)
#define sinf  native_sinf
#define cosf  native_cosf
#define tanhf native_tanhf

#include "vgpu/exec/lanes.h"

/* Replaces lane_nan_f32() in the expressions of the rows. */
#define lane_nan_f32(x) (mode & NATIVE_ANY_NAN ? (x) : (lane_nan_f32)(x))

/* Reads operands into variables first, which is always allowed. So a lane that does not need an
 * operand does not prevent vector operations. */
#define READ(type, from)                                                                           \
    memcpy((struct { _Alignas(64) type lane[N]; }){{0}}.lane, ALIGNED(from), sizeof(type) * N)
#define ALIGNED(p) __builtin_assume_aligned(p, 64)
#define LANES_OF(n)                                                                                       \
    _Pragma("clang loop vectorize(enable) vectorize_width(32) interleave_count(1) unroll(disable)") for ( \
        int i = 0; i < (n); i++)
#define FUNCTION __attribute__((always_inline)) void

#define LANE_LOOP(D, DECLARE, EXPR)                                                                \
    LANES_OF(N)                                                                                    \
    {                                                                                              \
        DECLARE;                                                                                   \
        d_[i] = (D)(EXPR);                                                                         \
    }
/* Two loops, since directed rounding needs a call per lane. A row without it keeps only one
 * loop. */
#define LANE_FUNCTION(NAME, LANES, D, HOIST, DECLARE, EXPR)                                        \
    FUNCTION NAME(void *to, const void *at_a, const void *at_b, const void *at_c,                  \
                  const void *at_e, u32 mode);                                                     \
    FUNCTION NAME(void *to, const void *at_a, const void *at_b, const void *at_c,                  \
                  const void *at_e, u32 mode)                                                      \
    {                                                                                              \
        enum { N = LANES };                                                                        \
        _Alignas(64) D d_[N];                                                                      \
        HOIST;                                                                                     \
        (void)at_b, (void)at_c, (void)at_e;                                                        \
        if (N > 1 && lane_is_directed(mode)) {                                                     \
            LANE_LOOP(D, DECLARE, EXPR)                                                            \
        } else {                                                                                   \
            LANE_LOOP(D, DECLARE, EXPR)                                                            \
        }                                                                                          \
        memcpy(ALIGNED(to), d_, sizeof d_);                                                        \
    }
#define OPERAND(type, field) READ(type, at_##field)
#define LANE_OP(ID, CLASS, D, HOIST, DECLARE, EXPR)                                                \
    LANE_FUNCTION(vector_##ID, 32, D, HOIST, DECLARE, EXPR)                                        \
    LANE_FUNCTION(scalar_##ID, 1, D, HOIST, DECLARE, EXPR)
#include "vgpu/exec/lane_rows.inc"

/* Divisions by a number that all lanes share, with its reciprocal: divisions of vectors are slow. The
 * reciprocal is rounded away from zero. So a product is never smaller than the quotient, and at most
 * 2^-19 of the distance to the next integer larger. */
static inline f64 reciprocal(f64 of)
{
    const f64 r = 1 / of;
    u64 bits;
    memcpy(&bits, &r, sizeof bits);
    bits++;
    f64 up;
    memcpy(&up, &bits, sizeof up);
    return up;
}

/* By 0, a quotient is all ones, and a remainder is the dividend. By -1, lanes divide by 1 and negate the
 * quotient. Both without branches, which would prevent vector operations. */
#define DIVIDE_BY(ID, TYPE, RESULT)                                                                \
    FUNCTION by_##ID(TYPE *to, const TYPE *at_a, TYPE b);                                          \
    FUNCTION by_##ID(TYPE *to, const TYPE *at_a, TYPE b)                                           \
    {                                                                                              \
        enum { N = 32 };                                                                           \
        const TYPE *const a_ = READ(TYPE, at_a);                                                   \
        _Alignas(64) TYPE d_[N];                                                                   \
        const u32 ones = b == 0 ? ~0u : 0, minus = (TYPE)-1 < 0 && b == (TYPE)-1 ? ~0u : 0;        \
        const f64 inverse = reciprocal(ones | minus ? 1 : (f64)b);                                 \
        LANES_OF(N)                                                                                \
        {                                                                                          \
            const u32 a = (u32)a_[i], q = ((u32)(TYPE)((f64)a_[i] * inverse) ^ minus) - minus;     \
            d_[i] = (TYPE)(RESULT);                                                                \
        }                                                                                          \
        memcpy(ALIGNED(to), d_, sizeof d_);                                                        \
    }
DIVIDE_BY(DIV_U32, u32, q | ones)
DIVIDE_BY(REM_U32, u32, a - q * b)
DIVIDE_BY(DIV_S32, s32, q | ones)
DIVIDE_BY(REM_S32, s32, a - q * (u32)b)

#define COMPARE_FUNCTION(NAME, LANES, TYPE, STORED, GET)                                           \
    FUNCTION NAME(u32 *flags, const void *at_a, const void *at_b, u32 compare);                    \
    FUNCTION NAME(u32 *flags, const void *at_a, const void *at_b, u32 compare)                     \
    {                                                                                              \
        enum { N = LANES };                                                                        \
        const STORED *const a_ = READ(STORED, at_a), *const b_ = READ(STORED, at_b);               \
        _Alignas(64) u32 flag[N];                                                                  \
        LANE_COMPARE(compare, N, TYPE, GET)                                                        \
        memcpy(ALIGNED(flags), flag, sizeof flag);                                                 \
    }
#define COMPARE(NAME, TYPE, STORED, GET)                                                           \
    COMPARE_FUNCTION(compare_vector_##NAME, 32, TYPE, STORED, GET)                                 \
    COMPARE_FUNCTION(compare_scalar_##NAME, 1, TYPE, STORED, GET)
LANE_COMPARE_TYPES(COMPARE)
