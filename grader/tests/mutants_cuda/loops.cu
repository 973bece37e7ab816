/* expect: no_progress (behaviour) */
/* q never gets ahead. */
#define TERM                                                                                       \
    sum += x[X_INDEX] * k[K_INDEX];                                                                \
    q--;
#include "plain.cuh"
