/* expect: not_cleared */
#define BEGIN
#define BEGIN_OUTPUT
#define TERM y[Y_INDEX] += x[X_INDEX] * k[K_INDEX];
#define STORE
#include "plain.h"
