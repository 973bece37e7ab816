/* expect: input_stride */
#define X_INDEX (b * C + c) * H + (h + p) * W + w + q
#include "plain.h"
