/* expect: only_first_elements */
#define STORE                                                                                      \
    if (Y_INDEX < 1024)                                                                            \
        y[Y_INDEX] = sum;
#include "plain.h"
