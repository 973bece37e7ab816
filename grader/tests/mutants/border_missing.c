/* expect: border_missing */
#define FOR_H for (int h = K / 2; h < H_out - K / 2; h++)
#define FOR_W for (int w = K / 2; w < W_out - K / 2; w++)
#include "plain.h"
