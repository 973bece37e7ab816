/* expect: input_channel_ignored */
#define X_INDEX (b * C * H + h + p) * W + w + q
#include "plain.h"
