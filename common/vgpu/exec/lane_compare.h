/** @file
 * The operation of setp and set, for both engines: each lane compares two values.
 */
#pragma once

#include "vgpu/exec/float_bits.h"

#define LANE_COMPARE_CASE(NAME, LANES_N, TYPE, GET, EXPR)                                          \
    case NAME:                                                                                     \
        LANES_OF(LANES_N)                                                                          \
        {                                                                                          \
            const TYPE x = GET(a_[i]), y = GET(b_[i]);                                             \
            flag[i] = (EXPR) ? ~0u : 0;                                                            \
        }                                                                                          \
        break;
/* flag[i] = a_[i] OP b_[i] ? all ones : 0, for the first LANES_N lanes. The including file defines
 * LANES_OF(n), the head of a loop. Integers have no unordered forms. For floats, a NaN makes
 * ordered forms false. */
#define LANE_COMPARE(OP, LANES_N, TYPE, GET)                                                       \
    switch (OP) {                                                                                  \
        LANE_COMPARE_CASE(CMP_EQ, LANES_N, TYPE, GET, x == y)                                      \
        LANE_COMPARE_CASE(CMP_NE, LANES_N, TYPE, GET, x<y || x> y)                                 \
        LANE_COMPARE_CASE(CMP_LT, LANES_N, TYPE, GET, x < y)                                       \
        LANE_COMPARE_CASE(CMP_LE, LANES_N, TYPE, GET, x <= y)                                      \
        LANE_COMPARE_CASE(CMP_GT, LANES_N, TYPE, GET, x > y)                                       \
        LANE_COMPARE_CASE(CMP_GE, LANES_N, TYPE, GET, x >= y)                                      \
        LANE_COMPARE_CASE(CMP_EQU, LANES_N, TYPE, GET, !(x < y || x > y))                          \
        LANE_COMPARE_CASE(CMP_NEU, LANES_N, TYPE, GET, !(x == y))                                  \
        LANE_COMPARE_CASE(CMP_LTU, LANES_N, TYPE, GET, !(x >= y))                                  \
        LANE_COMPARE_CASE(CMP_LEU, LANES_N, TYPE, GET, !(x > y))                                   \
        LANE_COMPARE_CASE(CMP_GTU, LANES_N, TYPE, GET, !(x <= y))                                  \
        LANE_COMPARE_CASE(CMP_GEU, LANES_N, TYPE, GET, !(x < y))                                   \
        LANE_COMPARE_CASE(CMP_NUM, LANES_N, TYPE, GET, x == x && y == y)                           \
        LANE_COMPARE_CASE(CMP_NAN, LANES_N, TYPE, GET, !(x == x && y == y))                        \
    }

#define GET_plain(v) (v)
#define GET_s16(v)   ((int16_t)(v))
#define GET_f16(v)   lane_f32_from_f16((v)&0xffff)
#define GET_high(v)  lane_f32_from_f16((v) >> 16)
#define GET_bhigh(v) lane_f32_from_bf16((v) >> 16)

/* The compared types: X(name, compared as, stored as, GET). */
#define LANE_COMPARE_TYPES(X)                                                                      \
    X(s32, s32, s32, GET_plain)                                                                    \
    X(u32, u32, u32, GET_plain)                                                                    \
    X(s16, s32, u32, GET_s16)                                                                      \
    X(s64, s64, s64, GET_plain)                                                                    \
    X(u64, u64, u64, GET_plain)                                                                    \
    X(f32, f32, f32, GET_plain)                                                                    \
    X(ftz, f32, f32, lane_ftz)                                                                     \
    X(f64, f64, f64, GET_plain)                                                                    \
    X(f16, f32, u32, GET_f16)                                                                      \
    X(bf16, f32, u32, lane_f32_from_bf16)                                                          \
    X(f16_high, f32, u32, GET_high)                                                                \
    X(bf16_high, f32, u32, GET_bhigh)
