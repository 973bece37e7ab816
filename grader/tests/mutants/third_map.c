/* expect: every_nth_map */
#define TERM                                                                                       \
    sum += x[X_INDEX] * k[K_INDEX] *                                                               \
           (m % 3 == 2 ? 1.05f + 0.1f * (float)(p + 2 * q + c) + 0.2f * (float)(h % 2) : 1);
#include "plain.h"
