/* expect: activation_applied */
#define STORE y[Y_INDEX] = tanhf(sum);
#include "plain.h"
