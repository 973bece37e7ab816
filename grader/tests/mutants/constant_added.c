/* expect: constant_added */
#define STORE y[Y_INDEX] = sum + 0.1f;
#include "plain.h"
