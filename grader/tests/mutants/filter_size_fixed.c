/* expect: filter_size_fixed */
/* Right for the models, whose filters are 5 wide */
#define FOR_P   for (int p = 0; p < 5; p++)
#define FOR_Q   for (int q = 0; q < 5; q++)
#define K_INDEX ((m * C + c) * 5 + p) * 5 + q
#include "plain.h"
