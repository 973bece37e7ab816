/* expect: unwritten */
#define STORE                                                                                      \
    if (sum > 0)                                                                                   \
        y[Y_INDEX] = sum;
#include "plain.h"
