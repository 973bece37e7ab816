/* expect: not_loaded (behaviour) */
/* The function is not visible outside this file. */
#include "conv.h"

static int conv_forward_static(const struct conv_shape *shape, const float *x, const float *k,
                               float *y)
{
    y[0] = x[0] * k[0];
    return shape->B != 1;
}

int (*const not_conv_forward)(const struct conv_shape *, const float *, const float *,
                              float *) = conv_forward_static;
