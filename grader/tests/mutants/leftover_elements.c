/* expect: leftover_elements */
#define STORE                                                                                      \
    if (Y_INDEX < B * M * H_out * W_out / 8 * 8)                                                   \
        y[Y_INDEX] = sum;
#include "plain.h"
