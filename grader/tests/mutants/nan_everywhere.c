/* expect: nan */
#define STORE y[Y_INDEX] = NAN;
#include "plain.h"
