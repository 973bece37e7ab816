/* expect: compile_error (build) */
#include "conv.h"

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    for (int b = 0; b < shape->B; b++)
        y[b] = x[b] * k[b] + undeclared_variable return 0;
}
