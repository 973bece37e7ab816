/* expect: leftover_channels */
/* Unrolled by four, without the remainder */
#define FOR_C for (int c = 0; c + 3 < C; c++)
#define TERM                                                                                       \
    if (c % 4 == 0)                                                                                \
        for (int i = 0; i < 4; i++, c++)                                                           \
            sum += x[X_INDEX] * k[K_INDEX];                                                        \
    c -= c % 4 == 0 ? 4 : 0;
#include "plain.h"
