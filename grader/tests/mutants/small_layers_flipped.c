/* expect: weights_flipped */
/* Small layers go another way, and only that is wrong. */
#define K_INDEX                                                                                    \
    ((m * C + c) * K + (H * W < 150 ? K - 1 - p : p)) * K + (H * W < 150 ? K - 1 - q : q)
#include "plain.h"
