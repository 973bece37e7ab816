/* expect: filter_loop_too_short */
#define FOR_P for (int p = 0; p < K - 1; p++)
#include "plain.h"
