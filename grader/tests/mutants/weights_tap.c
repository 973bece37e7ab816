/* expect: weights_tap_ignored */
#define K_INDEX (m * C + c) * K *K
#include "plain.h"
