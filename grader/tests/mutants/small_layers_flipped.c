/* expect: weights_flipped */
/* Small layers use other code, and only that code is wrong. */
#define K_INDEX                                                                                    \
    ((m * C + c) * K + (H * W < 150 ? K - 1 - p : p)) * K + (H * W < 150 ? K - 1 - q : q)
#include "plain.h"
