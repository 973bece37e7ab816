/* expect: window_offset */
#define X_INDEX ((b * C + c) * H + h + p - 1) * W + w + q - 1
#include "plain.h"
