/* expect: crash (behaviour) */
/* Allocates memory until none is left, without checking the result. */
#define BEGIN                                                                                      \
    float sum = 0;                                                                                 \
    for (;;)                                                                                       \
        memset(malloc((size_t)1 << 28), 1, (size_t)1 << 28);
#include "plain.h"
