/* expect: scaled */
#define STORE y[Y_INDEX] = sum * 1.001f;
#include "plain.h"
