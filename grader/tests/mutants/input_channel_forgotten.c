/* expect: input_channel_ignored */
#define X_INDEX b *H *W + (h + p) * W + w + q
#include "plain.h"
