/* expect: filter_loop_too_long */
#define FOR_Q for (int q = 0; q <= K; q++)
#include "plain.h"
