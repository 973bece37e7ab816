/* expect: pass (behaviour) */
#include <stdio.h>
#define END                                                                                        \
    static int printed;                                                                            \
    for (; printed < 10000000; printed++)                                                          \
        printf("b=%d line %d\n", B, printed);
#include "plain.h"
