/* expect: weights_transposed */
#define K_INDEX ((m * C + c) * K + q) * K + p
#include "plain.h"
