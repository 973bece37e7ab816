/* expect: operands_added */
#define TERM sum += x[X_INDEX] + k[K_INDEX];
#include "plain.h"
