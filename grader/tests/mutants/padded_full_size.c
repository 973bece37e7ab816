/* expect: padded */
#define TERM                                                                                       \
    int row = h + p - (K - 1) / 2, column = w + q - (K - 1) / 2;                                   \
    if (row >= 0 && row < H && column >= 0 && column < W)                                          \
        sum += x[((b * C + c) * H + row) * W + column] * k[K_INDEX];
#define H_OUT H
#define W_OUT W
#include "plain.h"
