/* expect: height_width_swapped */
#define X_INDEX ((b * C + c) * H + h + p) * H + w + q
#define W_OUT   (H - K + 1)
#include "plain.h"
