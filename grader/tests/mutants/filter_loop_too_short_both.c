/* expect: filter_loop_too_short */
#define FOR_P for (int p = 0; p < K - 1; p++)
#define FOR_Q for (int q = 0; q < K - 1; q++)
#include "plain.h"
