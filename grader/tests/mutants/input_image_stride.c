/* expect: input_stride */
#define X_INDEX ((b + c) * H + h + p) * W + w + q
#include "plain.h"
