/* expect: weights_stride */
#define K_INDEX ((m * M + c) * K + p) * K + q
#include "plain.h"
