/* expect: weights_stride */
#define K_INDEX ((m + c) * K + p) * K + q
#include "plain.h"
