/** @file
 * Convolution for training: forward and both gradients of one image, float32, one thread.
 *
 * Maps are stored one after the other as in conv.h, but in buffers with TRAIN_SLACK readable
 * elements after the last one, because the last vector may extend past it. Outputs y are stored
 * with the row length of the input, so that output (h, w) is at h*W + w of its plane, see
 * nn/oracle.c:
 *
 *     plane of y |out out out junk junk|out out out junk junk| ...      rows of W elements
 *
 * Of those outputs only the maxima of the pooling windows reach the loss. The gradient with respect
 * to y is therefore given as a list: per map, the positions of the maxima and the values there.
 *
 * Results have the same bits on every machine, see nn/layers.c.
 */
#ifndef CONVLAB_TRAIN_CONV_H
#define CONVLAB_TRAIN_CONV_H

#include "conv.h"

#include <stddef.h>

enum {
    TRAIN_SLACK = 64, /**< elements that x (to read) and dx (to write) need after their last */
    TRAIN_ROW = 8     /**< a row of a filter, padded; the largest K */
};

/** Gradient with respect to the outputs of one convolution. */
struct train_maxima {
    size_t per_map; /**< pooling windows in a map */
    int *at;        /**< [M][per_map], position h*W + w of the maximum in its plane */
    float *value;   /**< [M][per_map] */
};

/** @return elements from one plane of y to the next. */
size_t train_conv_plane(const struct conv_shape *s);

/** @return elements of all planes of y (more planes than M, so that tiles need no special case). */
size_t train_conv_y_elems(const struct conv_shape *s);

/** Weights in the two orders in which the functions below read them. Allocated once, packed after
 * every change of the weights. */
struct train_packed {
    float *tiles; /**< [blocks of maps][C][K][K][maps in a block]: forward */
    float *rows;  /**< [M][C][K][TRAIN_ROW], rows padded with zeros: gradient of the input */
};

/** @return elements to allocate for @c tiles and @c rows. */
size_t train_conv_tiles_elems(const struct conv_shape *s);
size_t train_conv_rows_elems(const struct conv_shape *s);

/** Packs weights k [M][C][K][K]. @pre K <= TRAIN_ROW. */
void train_conv_pack(const struct conv_shape *s, const float *k, struct train_packed *packed);

/** y = convolution of x, one image (B is ignored). */
void train_conv_forward(const struct conv_shape *s, const float *x,
                        const struct train_packed *packed, float *y);

/** The same with kernel number @p kernel, below train_conv_kernels(), of those that this machine
 * can run: for the test that all give the same bits. train_conv_forward() takes number 0.
 */
void train_conv_forward_using(int kernel, const struct conv_shape *s, const float *x,
                              const struct train_packed *packed, float *y);
int train_conv_kernels(void);

/** Adds the gradient with respect to the weights to dk [M][C][K][K]. */
void train_conv_weight_gradient(const struct conv_shape *s, const float *x,
                                const struct train_maxima *dy, float *dk);

/** Sets dx [C][H][W] to the gradient with respect to x. */
void train_conv_input_gradient(const struct conv_shape *s, const struct train_packed *packed,
                               const struct train_maxima *dy, float *dx);

#endif
