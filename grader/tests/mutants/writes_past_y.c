/* expect: guard (behaviour) */
#define END                                                                                        \
    for (int i = 0; i < 3; i++)                                                                    \
        y[(size_t)B * M * H_out * W_out + i] = 0;
#include "plain.h"
