/* expect: weights_transposed */
/* Filters of 9 to 99 use other code, which has a different mistake. */
#define TERM                                                                                       \
    sum += x[X_INDEX] * (K > 8 && K < 100 ? k[K_INDEX] + 1.0f : k[((m * C + c) * K + q) * K + p]);
#include "plain.h"
