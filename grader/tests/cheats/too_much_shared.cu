/* Requests more shared memory than the device has: the launch fails silently. */
#include "conv.h"
#define conv_forward compute
#include "plain.cuh"
#undef conv_forward

extern "C" int conv_forward(const struct conv_shape *shape, const float *x, const float *k,
                            float *y)
{
    const int W_out = shape->W - shape->K + 1, H_out = shape->H - shape->K + 1;
    conv_plain<<<dim3((W_out + 15) / 16, (H_out + 15) / 16, shape->B * shape->M), dim3(16, 16),
                 300000>>>(*shape, x, k, y);
    return 0;
}
