/* expect: constant_output */
#define STORE y[Y_INDEX] = 42;
#include "plain.h"
