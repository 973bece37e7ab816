/* expect: channels_not_summed */
#define FOR_C for (int c = 0; c < 1; c++)
#include "plain.h"
