/* expect: no_progress (behaviour) */
/* q never advances. */
#define TERM                                                                                       \
    sum += x[X_INDEX] * k[K_INDEX];                                                                \
    q--;
#include "plain.cuh"
