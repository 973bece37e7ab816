/* expect: x_k_swapped */
/* The order of the parameters is not that of conv.h. */
#define conv_forward swapped_forward
#define BEGIN                                                                                      \
    const float *swap = x;                                                                         \
    x = k, k = swap;                                                                               \
    float sum = 0;
#include "plain.h"
#undef conv_forward

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    return swapped_forward(shape, x, k, y);
}
