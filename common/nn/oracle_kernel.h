/** @file
 * The oracle's kernels, one for every kind of vector register. Only oracle.c and its test need
 * them: the test proves that all kernels and the plain loops give the same bits.
 */
#ifndef CONVLAB_NN_ORACLE_KERNEL_H
#define CONVLAB_NN_ORACLE_KERNEL_H

#include "conv.h"

enum {
    ORACLE_POSITIONS = 32, /**< positions in a tile */
    ORACLE_MAX_MAPS = 6    /**< maximum output maps in a tile */
};

/** A tile kernel, see nn/conv_tile.h. */
struct oracle_kernel {
    const char *name;
    int maps; /**< output maps in a tile */
    void (*tile)(const struct conv_shape *s, const double *x, const double *k, float *out,
                 size_t out_stride);
};

/** @return the @p i-th of the kernels that this machine can run, fastest first; NULL after the
 * last. */
const struct oracle_kernel *oracle_kernel(int i);

/** nn_oracle_conv() with a chosen kernel; NULL: with plain loops. */
void oracle_conv_using(const struct oracle_kernel *kernel, const struct conv_shape *shape,
                       const float *x, const float *k, float *y);

#endif
