/* expect: time_limit (behaviour) */
#define END                                                                                        \
    for (volatile int i = 0;; i++)                                                                 \
        ;
#include "plain.h"
