/* expect: height_width_swapped */
#define X_INDEX ((b * C + c) * W + h + p) * H + w + q
#define H_OUT   (W - K + 1)
#define W_OUT   (H - K + 1)
#include "plain.h"
