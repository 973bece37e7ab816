/* expect: x_k_swapped */
#define TERM sum += k[X_INDEX] * x[K_INDEX];
#include "plain.h"
