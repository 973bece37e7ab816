/* expect: weights_flipped */
/* Two faults at once */
#define K_INDEX ((m * C + c) * K + K - 1 - p) * K + K - 1 - q
#define FOR_H   for (int h = 0; h < H_out - 1; h++)
#include "plain.h"
