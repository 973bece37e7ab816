/* expect: inf */
#define STORE y[Y_INDEX] = sum / (h % 3);
#include "plain.h"
