/* expect: height_width_swapped */
#define X_INDEX (b * C + c) * H *W + (h + p) * H + w + q
#include "plain.h"
