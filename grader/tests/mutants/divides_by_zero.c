/* expect: crash (behaviour) */
#define BEGIN                                                                                      \
    volatile int zero = 0;                                                                         \
    float sum = (float)(B / zero);
#include "plain.h"
