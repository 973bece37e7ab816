/** @file
 * What the GPU benchmark itself runs on the device: inputs, expected outputs, the comparison, and
 * the two kernels that measure what the device can do at best. All start on the default stream and
 * return before they have ended.
 */
#pragma once

#include "conv.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Fills n floats in [-1, 1), different for every seed. */
void bench_fill(float *to, size_t n, unsigned seed);

/** y by the definition, one thread per element, summed in float64 and rounded once, as the oracle
 * does it. */
void bench_conv_naive(const struct conv_shape *shape, const float *x, const float *k, float *y);

/** Result of a comparison. */
struct bench_compared {
    unsigned long long wrong; /**< elements beyond the tolerance, NaN and infinity among them */
    unsigned worst_bits;      /**< the largest |y - ref| / tolerance, as the bits of a float */
};

/** Adds to *result (device memory, cleared by the caller): which elements of y fail
 * |y - ref| <= atol[m] + rtol * |ref|.
 * @param atol  [M], device memory
 * @param map   elements of an output map, H_out * W_out */
void bench_compare(const float *y, const float *ref, const float *atol, float rtol, size_t n, int M,
                   size_t map, struct bench_compared *result);

/** Copies n floats, 16 bytes per load and store. @pre n is a multiple of 4. */
void bench_copy(float *to, const float *from, size_t n);

/** Multiply-adds in registers: what a GPU does at best.
 * @param out  one float per thread, so that nothing is left out
 * @return floating-point operations started, two per multiply-add. */
double bench_multiply_add(float *out, int blocks, int rounds);

/** Threads of a block of bench_multiply_add(). */
enum { BENCH_FMA_THREADS = 256 };

#ifdef __cplusplus
}
#endif
