/* expect: weights_rotated */
#define K_INDEX ((m * C + c) * K + q) * K + K - 1 - p
#include "plain.h"
