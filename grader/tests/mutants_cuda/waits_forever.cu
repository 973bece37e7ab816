/* expect: no_progress (behaviour) */
/* Waits until y differs from its value on entry, but no other thread writes this element. */
#define STORE                                                                                      \
    volatile float *mine = y + Y_INDEX;                                                            \
    const unsigned before = __float_as_uint(*mine);                                                \
    while (__float_as_uint(*mine) == before)                                                       \
        ;                                                                                          \
    *mine = sum;
#include "plain.cuh"
