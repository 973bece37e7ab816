/* Counts its calls, to compute while it is checked and to do nothing while it is timed. */
#define BEGIN                                                                                      \
    static int calls;                                                                              \
    float sum = 0;                                                                                 \
    if (++calls > 44)                                                                              \
        return 0;
#include "plain.h"
