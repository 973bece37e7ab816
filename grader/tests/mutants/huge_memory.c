/* expect: crash (behaviour) */
/* Takes memory until there is none, and does not look whether it got it. */
#define BEGIN                                                                                      \
    float sum = 0;                                                                                 \
    for (;;)                                                                                       \
        memset(malloc((size_t)1 << 28), 1, (size_t)1 << 28);
#include "plain.h"
