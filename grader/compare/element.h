/** @file
 * One output element: the rule that decides whether it is right, and what its bits show about its
 * origin.
 *
 * Guard zones and unwritten outputs are filled with signalling NaNs of our own (cases.h). A program
 * that copies such a value keeps its bits; a program that computes with it gets a quiet NaN. On x86
 * and Arm, the quiet NaN keeps the other bits (the payload), which show where it came from; on
 * NVIDIA GPUs every NaN result is 0x7fffffff.
 */
#pragma once

#include "grader/course/cases.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/** The NaN that arithmetic produces on NVIDIA GPUs. */
#define GR_GPU_NAN_BITS 0x7fffffffu

/** @return the bits of a float. */
static inline uint32_t gr_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/** The rule: an element is right if |got - ref| <= atol + rtol |ref|. It is written so that NaN
 * fails; Inf would pass only with an infinite tolerance.
 * @param ref  the oracle's value @param atol  of the element's map (nn_conv_tolerance()) */
static inline bool gr_element_passes(float got, float ref, float atol)
{
    return isfinite(got) && fabsf(got - ref) <= atol + NN_RTOL * fabsf(ref);
}

/** @return whether an element still has the bits with which outputs are filled. */
static inline bool gr_is_unwritten(float value)
{
    return gr_bits(value) == GR_POISON_BITS;
}

/** @return whether an element is a NaN computed from a NaN with the signalling bits @p origin. */
static inline bool gr_comes_from(float value, uint32_t origin)
{
    const uint32_t quiet = 0x00400000u, sign = 0x80000000u;
    return (gr_bits(value) & ~sign) == (origin | quiet);
}
