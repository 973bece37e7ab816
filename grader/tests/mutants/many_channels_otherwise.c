/* expect: shape_condition */
#define TERM sum += x[X_INDEX] * k[K_INDEX] * (C > 8 ? x[X_INDEX] : 1);
#include "plain.h"
