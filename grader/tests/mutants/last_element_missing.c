/* expect: last_element_missing */
#define STORE                                                                                      \
    if (Y_INDEX < B * M * H_out * W_out - 1)                                                       \
        y[Y_INDEX] = sum;
#include "plain.h"
