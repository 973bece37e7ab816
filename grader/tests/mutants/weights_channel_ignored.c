/* expect: weights_channel_ignored */
#define K_INDEX (m * C * K + p) * K + q
#include "plain.h"
