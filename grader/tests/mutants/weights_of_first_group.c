/* expect: weights_of_group */
#define K_INDEX ((m % 6 * C + c) * K + p) * K + q
#include "plain.h"
