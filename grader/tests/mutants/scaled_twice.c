/* expect: scaled */
#define STORE y[Y_INDEX] = sum + sum;
#include "plain.h"
