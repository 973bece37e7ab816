/** @file
 * Compares an output tensor with the oracle's, element by element.
 */
#pragma once

#include "grader/course/cases.h"

#include <stddef.h>

/** The differences between the outputs of one case and the oracle's. An element passes only if
 * |y - ref| <= atol[m] + NN_RTOL * |ref| holds, so NaN and Inf fail. */
struct gr_compare {
    size_t elems;     /**< elements of y */
    size_t wrong;     /**< elements that do not pass, including those counted below */
    size_t unwritten; /**< elements that still have GR_POISON_BITS */
    size_t nan, inf;  /**< other NaNs, and infinities */
    size_t first;     /**< index of the first wrong element */
    int b, m, h, w;   /**< the coordinates of that element */
    float expected, got;
    double max_error;       /**< largest |y - ref| over finite elements */
    double max_error_ratio; /**< largest |y - ref| / tolerance over finite elements */
};

/** Compares @p images images from number @p first_image on (a whole case: 0 and shape.B) and adds
 * the result to @p sum (zero it first), so that a large batch can be compared in parts. Uses all
 * cores; the result does not depend on their number.
 * @param y, ref  point to image first_image. */
void gr_compare_images(const struct conv_shape *shape, size_t first_image, size_t images,
                       const float *y, const float *ref, const float *atol, struct gr_compare *sum);
