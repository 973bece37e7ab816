/* Works on the host before it launches its kernel: with a GPU, the host's time counts too. */
#include "conv.h"
#define conv_forward compute
#include "plain.cuh"
#undef conv_forward

extern "C" int conv_forward(const struct conv_shape *shape, const float *x, const float *k,
                            float *y)
{
    const int W_out = shape->W - shape->K + 1, H_out = shape->H - shape->K + 1;
    volatile unsigned work = 1;
    for (int i = 0; i < 150000000; i++)
        work = work * 5 + 1;
    conv_plain<<<dim3((W_out + 15) / 16, (H_out + 15) / 16, shape->B * shape->M), dim3(16, 16)>>>(
        *shape, x, k, y);
    return 0;
}
