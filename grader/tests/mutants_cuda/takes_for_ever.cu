/* expect: time_limit (behaviour) */
/* Ends one day: something changes in every turn, so that nobody can call it stuck. */
#define STORE                                                                                      \
    for (size_t turn = 0; turn >> 50 == 0; turn++)                                                 \
        ((volatile float *)y)[Y_INDEX] = sum;
#include "plain.cuh"
