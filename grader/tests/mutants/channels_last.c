/* expect: channels_last */
#define X_INDEX ((b * H + h + p) * W + w + q) * C + c
#include "plain.h"
