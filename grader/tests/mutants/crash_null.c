/* expect: crash (behaviour) */
#define BEGIN                                                                                      \
    y = NULL;                                                                                      \
    float sum = 0;
#include "plain.h"
