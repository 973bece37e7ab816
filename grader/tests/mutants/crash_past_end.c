/* expect: crash (behaviour) */
/* Stores past the end of y, further and further, until no memory is mapped */
#define END                                                                                        \
    for (size_t i = 0;; i += 65536)                                                                \
        y[i] = 0;
#include "plain.h"
