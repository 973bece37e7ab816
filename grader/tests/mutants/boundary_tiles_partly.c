/* expect: boundary_tiles */
/* A partial last tile of a row has one filter column too few in its right half. */
#define TERM                                                                                       \
    int start = W_out / 8 * 8, left = W_out % 8;                                                   \
    if (!(w >= start + left / 2 && q == 0))                                                        \
        sum += x[X_INDEX] * k[K_INDEX];
#include "plain.h"
