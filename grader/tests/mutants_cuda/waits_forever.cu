/* expect: no_progress (behaviour) */
/* Waits until y is no longer what it was on entry. Nobody else writes this element. */
#define STORE                                                                                      \
    volatile float *mine = y + Y_INDEX;                                                            \
    const unsigned before = __float_as_uint(*mine);                                                \
    while (__float_as_uint(*mine) == before)                                                       \
        ;                                                                                          \
    *mine = sum;
#include "plain.cuh"
