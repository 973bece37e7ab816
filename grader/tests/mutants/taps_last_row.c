/* expect: taps_not_summed */
#define FOR_P for (int p = 0; p < K && (sum = 0, 1); p++)
#include "plain.h"
