/* expect: tile_halo */
/* Tiles of 8 x 8 inputs are loaded, without the K - 1 rows and columns beyond them. */
#define TERM                                                                                       \
    if (h % 8 + p < 8 && w % 8 + q < 8)                                                            \
        sum += x[X_INDEX] * k[K_INDEX];
#include "plain.h"
