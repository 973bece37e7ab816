/* expect: not_cleared */
/* Adds to what y holds on entry. */
#define STORE y[Y_INDEX] += sum;
#include "plain.cuh"
