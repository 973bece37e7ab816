/** @file
 * The oracle: the trusted convolution.
 *
 * Products of two float32 are exact in float64; they are summed in float64 and rounded to float32
 * once, so an output is within half a unit in the last place of the exact sum (up to float64
 * rounding, about 2^-29 of that half unit). It is vectorised and parallel, but gives the same bits
 * on every machine with any number of cores: each output is summed in the order c, p, q.
 */
#ifndef CONVLAB_NN_ORACLE_H
#define CONVLAB_NN_ORACLE_H

#include "base/status.h"
#include "conv.h"

/** y = convolution of x with k (see conv.h for shapes and layout). Uses all cores. Pointers are not
 * owned; y must not overlap x or k. @pre the shape is valid and all sizes fit in memory. */
void nn_oracle_conv(const struct conv_shape *shape, const float *x, const float *k, float *y);

/** Numbers of elements of x, k and y, and of multiply-adds, for a shape. */
size_t nn_conv_x_elems(const struct conv_shape *shape);
size_t nn_conv_k_elems(const struct conv_shape *shape);
size_t nn_conv_y_elems(const struct conv_shape *shape);
double nn_conv_macs(const struct conv_shape *shape);

/** Computes, for each output map m of a set of images, the absolute error that a correct float32
 * convolution may have with any order of summation: atol[m] = 6 * sqrt(n) * 2^-24 * max|x| *
 * sum|k[m]|, n = C*K*K. A probabilistic rounding bound (Higham and Mary, "A New Approach to
 * Probabilistic Rounding Error Analysis", 2019): float32 stays below it, TF32 and half precision do
 * not.
 * @param part  0, or a milestone's tolerance for lower precision, as a fraction of x_max * sum|k|
 * @param x_max  the largest |x|
 * @param atol   [M], filled. */
void nn_conv_tolerance(const struct conv_shape *shape, double part, float x_max, const float *k,
                       float *atol);

/** Relative part of the tolerance: an element passes if |y - ref| <= atol[m] + NN_RTOL * |ref|. */
#define NN_RTOL 1e-6f

/** Compares y with the oracle's output for x and k.
 * @param wrong    set to the number of elements beyond the tolerance, including NaN and infinity
 * @param largest  set to the largest finite |y - ref| @return ST_OK even if elements are wrong;
 * ST_NO_MEMORY. */
enum st_code nn_conv_compare(const struct conv_shape *shape, const float *x, const float *k,
                             const float *y, size_t *wrong, double *largest, struct st_error *err);

#endif
