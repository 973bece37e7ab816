/** @file
 * The operations of lane-wise instructions in ptx/opcodes.def, one inline function each. The
 * compiler vectorises their loops over 32 lanes, so the common forms have no branches. Native code
 * uses the same functions.
 *
 *     lane_integers.h     integers and bits
 *     lane_floats.h       floats of 16, 32 and 64 bits
 *     lane_exponential.h  2^x and the logarithm to base 2
 *     lane_compare.h      comparisons
 *     float_bits.h        the bits of floats, which these files and rounding.c use
 */
#pragma once

#include "vgpu/exec/lane_compare.h"
#include "vgpu/exec/lane_floats.h"
#include "vgpu/exec/lane_integers.h"
