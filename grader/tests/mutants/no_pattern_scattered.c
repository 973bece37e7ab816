/* expect: none */
/* As if two threads shared a variable: some outputs lack their first term. */
#define STORE                                                                                      \
    uint32_t mix = (uint32_t)(Y_INDEX + B * 7919) * 2654435761u;                                   \
    y[Y_INDEX] = sum - (mix >> 29 ? 0 : x[((b * C) * H + h) * W + w] * k[m * C * K * K]);
#include "plain.h"
