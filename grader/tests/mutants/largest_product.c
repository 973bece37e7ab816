/* expect: largest_product */
#include <math.h>
#define TERM sum = fmaxf(sum, x[X_INDEX] * k[K_INDEX]);
#include "plain.h"
