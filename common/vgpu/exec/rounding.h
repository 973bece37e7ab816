/** @file
 * Arithmetic in the rounding modes that compiled C cannot express, and conversions between any two
 * types. These instructions are rare, so each lane makes a call.
 */
#pragma once

#include "vgpu/ptx/ptx_ir.h"

enum lane_operation {
    LANE_ADD,
    LANE_SUB,
    LANE_MUL,
    LANE_DIV,
    LANE_FMA,
    LANE_SQRT,
    LANE_MIN,
    LANE_MAX,
};

float round_f32(enum lane_operation op, float a, float b, float c, enum ir_rounding rounding);
double round_f64(enum lane_operation op, double a, double b, double c, enum ir_rounding rounding);

/** Converts a value of type @p from to type @p to. Both values are bits, zero-extended. */
uint64_t convert_bits(uint64_t bits, enum ptx_type to, enum ptx_type from, uint32_t mode);
/** @return two floats in one register of halves (or of e4m3 or e5m2 bytes), @p high in the upper
 * one. */
uint32_t convert_pair(float high, float low, enum ptx_type to, uint32_t mode);
/** @return the value of a byte of e5m2 or e4m3. */
float widen_byte(uint32_t byte, bool is_e5m2);
/** @return two bytes of type @p from (e4m3x2, e5m2x2) as two halves in one register. */
uint32_t convert_bytes(uint32_t bytes, enum ptx_type from, uint32_t mode);
