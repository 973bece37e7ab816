/* expect: boundary_tiles */
/* Only whole tiles of 16 x 16 are computed. */
#define FOR_H for (int h = 0; h < H_out / 16 * 16; h++)
#define FOR_W for (int w = 0; w < W_out / 16 * 16; w++)
#include "plain.h"
