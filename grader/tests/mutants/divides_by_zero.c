/* expect: crash (behaviour) */
#define BEGIN                                                                                      \
    volatile int zero = 0;                                                                         \
    float sum = 0;                                                                                 \
    y[0] = (float)(B / zero);
#include "plain.h"
