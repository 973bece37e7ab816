/* expect: height_width_swapped */
#define FOR_H for (int h = 0; h < W_out; h++)
#define FOR_W for (int w = 0; w < H_out; w++)
#include "plain.h"
