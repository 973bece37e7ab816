/* expect: filter_loop_from_one */
#define FOR_P for (int p = 1; p <= K; p++)
#define FOR_Q for (int q = 1; q <= K; q++)
#include "plain.h"
