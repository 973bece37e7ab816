/* expect: channels_not_summed */
/* y = instead of y += */
#define FOR_C for (int c = 0; c < C; c++, y[Y_INDEX] = sum, sum = 0)
#define STORE
#include "plain.h"
