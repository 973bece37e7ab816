/* expect: not_repeatable (behaviour) */
/* Stores values that depend on the number of earlier calls of conv_forward(), like a race or a
 * variable that keeps its value. */
#define BEGIN                                                                                      \
    static unsigned turns;                                                                         \
    float sum = 0;
#define TERM                                                                                       \
    sum += x[X_INDEX] * k[K_INDEX] * (++turns % 7 == 0 && h % 5 == 3 && w % 3 == 1 ? 3 : 1);
#include "plain.h"
