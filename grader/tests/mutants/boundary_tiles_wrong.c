/* expect: boundary_tiles */
/* In a tile of 32 x 32 that is not whole, rows are taken for as long as the tile is wide. */
#define TERM                                                                                       \
    int whole = h < H_out / 32 * 32 && w < W_out / 32 * 32;                                        \
    sum += x[whole ? X_INDEX : ((b * C + c) * H + h) * W + w] * k[K_INDEX];
#include "plain.h"
