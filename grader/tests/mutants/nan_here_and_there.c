/* expect: nan */
#define STORE y[Y_INDEX] = sum < 0 ? sqrtf(sum) : sum;
#include "plain.h"
