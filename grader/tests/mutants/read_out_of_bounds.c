/* expect: read_out_of_bounds */
#define TERM sum += x[X_INDEX + B * C * H * W] * k[K_INDEX];
#include "plain.h"
