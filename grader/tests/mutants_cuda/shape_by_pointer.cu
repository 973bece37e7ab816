/* expect: invalid_address (behaviour) */
/* The kernel gets a host pointer to the sizes. */
#include "conv.h"

__global__ void conv_sizes(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    const int n = shape->B * shape->M; /* a read of host memory */
    if ((int)threadIdx.x < n)
        y[threadIdx.x] = x[0] * k[0];
}

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    conv_sizes<<<1, 256>>>(shape, x, k, y);
    return 0;
}
