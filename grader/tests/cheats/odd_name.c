/* Crashes in a function whose name controls the terminal. */
#include "conv.h"

int odd(int *place) __asm__("\"\033[31mred<b>|`x`\"");

__attribute__((noinline)) int odd(int *place)
{
    *place = 0;
    return 1;
}

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    (void)shape, (void)x, (void)k, (void)y;
    return odd((int *)8);
}
