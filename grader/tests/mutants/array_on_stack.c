/* expect: crash (behaviour) */
/* Copies all of x to an array on the stack: right for small shapes, if they come first. */
#define BEGIN                                                                                      \
    float sum = 0;                                                                                 \
    volatile float copy[(size_t)64 * 1024 * 1024];                                                 \
    for (int i = 0; i < B * C * H * W; i++)                                                        \
        copy[i] = x[i];
#include "plain.h"
