/* expect: terms_left_out */
#define TERM sum += x[X_INDEX] * k[K_INDEX] * (c % 3 != 1);
#include "plain.h"
