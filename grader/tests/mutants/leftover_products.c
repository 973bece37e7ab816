/* expect: leftover_products */
#define TERM                                                                                       \
    if ((c * K + p) * K + q < C * K * K / 8 * 8)                                                   \
        sum += x[X_INDEX] * k[K_INDEX];
#include "plain.h"
