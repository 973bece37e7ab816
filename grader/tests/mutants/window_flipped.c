/* expect: weights_flipped */
#define X_INDEX ((b * C + c) * H + h + K - 1 - p) * W + w + K - 1 - q
#include "plain.h"
