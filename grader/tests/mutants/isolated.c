/* expect: isolated */
#define STORE y[Y_INDEX] = sum + (b == 1 && m == 1 && h == 2 && w == 3);
#include "plain.h"
