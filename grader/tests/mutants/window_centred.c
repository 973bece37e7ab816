/* expect: window_offset */
#define X_INDEX ((b * C + c) * H + h + p - K / 2) * W + w + q - K / 2
#include "plain.h"
