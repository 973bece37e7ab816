/* expect: weights_transposed */
#define X_INDEX ((b * C + c) * H + h + q) * W + w + p
#include "plain.h"
