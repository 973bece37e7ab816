/* expect: filter_loop_too_short */
#define FOR_Q for (int q = 0; q < K / 2 * 2; q++)
#include "plain.h"
