/* expect: window_fixed */
#define X_INDEX ((b * C + c) * H + p) * W + q
#include "plain.h"
