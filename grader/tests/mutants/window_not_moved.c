/* expect: window_not_moved */
#define X_INDEX ((b * C + c) * H + h) * W + w
#include "plain.h"
