/* expect: sum_not_reset */
#define BEGIN_OUTPUT                                                                               \
    if (h == 0 && w == 0)                                                                          \
        sum = 0;
#include "plain.h"
