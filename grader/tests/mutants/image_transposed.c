/* expect: height_width_swapped */
#define X_INDEX ((b * C + c) * H + w + q) * W + h + p
#include "plain.h"
