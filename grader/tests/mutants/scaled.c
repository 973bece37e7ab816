/* expect: scaled */
#define STORE y[Y_INDEX] = sum / (K * K);
#include "plain.h"
