/* expect: crash (behaviour) */
/* The host clears y through a device pointer. */
#define BEGIN                                                                                      \
    for (size_t i = 0; i < (size_t)B * M * H_out * W_out; i++)                                     \
        y[i] = 0;
#include "plain.cuh"
