/** @file
 * The GPU benchmark's own kernels: inputs, expected outputs, the comparison, and two kernels that
 * measure the device's peak rates. All kernels are launched on the default stream; the functions
 * return before the kernels end.
 */
#pragma once

#include "conv.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Fills n floats in [-1, 1), which differ for every seed. */
void bench_fill(float *to, size_t n, unsigned seed);

/** Computes y by the definition, one thread per element, summed in float64 and rounded once, like
 * the oracle. */
void bench_conv_naive(const struct conv_shape *shape, const float *x, const float *k, float *y);

/** The result of a comparison. */
struct bench_compared {
    unsigned long long wrong; /**< elements beyond the tolerance, including NaN and infinity */
    unsigned worst_bits;      /**< the largest |y - ref| / tolerance, as the bits of a float */
};

/** Adds to *result (device memory, cleared by the caller) the elements of y that violate |y - ref|
 * <= atol[m] + rtol * |ref|.
 * @param atol  [M], device memory
 * @param map   elements of an output map, H_out * W_out */
void bench_compare(const float *y, const float *ref, const float *atol, float rtol, size_t n, int M,
                   size_t map, struct bench_compared *result);

/** Copies n floats, 16 bytes per load and store. @pre n is a multiple of 4. */
void bench_copy(float *to, const float *from, size_t n);

/** Runs multiply-adds in registers, at a GPU's peak rate. @param out  one float per thread, so that
 * the compiler removes nothing
 * @return the number of floating-point operations, two per multiply-add. */
double bench_multiply_add(float *out, int blocks, int rounds);

/** Threads per block in bench_multiply_add(). */
enum { BENCH_FMA_THREADS = 256 };

#ifdef __cplusplus
}
#endif
