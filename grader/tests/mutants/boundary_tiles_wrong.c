/* expect: boundary_tiles */
/* In a partial tile of 32 x 32, the row length is taken to be the tile's width. */
#define TERM                                                                                       \
    int whole = h < H_out / 32 * 32 && w < W_out / 32 * 32;                                        \
    sum += x[whole ? X_INDEX : ((b * C + c) * H + h) * W + w] * k[K_INDEX];
#include "plain.h"
