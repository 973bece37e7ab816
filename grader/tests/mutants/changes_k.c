/* expect: input_changed (behaviour) */
/* Turns the filter in place, in the belief that it is its own */
#define BEGIN                                                                                      \
    float sum = 0, *turned = (float *)k;                                                           \
    turned[0] = -turned[0];
#include "plain.h"
