/* expect: leftover_channels */
/* Two channels at a time, without checking that a second exists */
#define FOR_C                                                                                      \
    for (int c0 = 0; c0 < C; c0 += 2)                                                              \
        for (int c = c0; c < c0 + 2; c++)
#include "plain.h"
