/* expect: weights_map_ignored */
#define K_INDEX (c * K + p) * K + q
#include "plain.h"
