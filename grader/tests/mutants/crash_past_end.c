/* expect: crash (behaviour) */
/* Far past the end, further and further, until nothing is there */
#define END                                                                                        \
    for (size_t i = 0;; i += 65536)                                                                \
        y[i] = 0;
#include "plain.h"
