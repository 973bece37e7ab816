/* expect: not_cleared */
#define STORE y[Y_INDEX] += sum;
#include "plain.h"
