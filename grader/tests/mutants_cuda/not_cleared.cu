/* expect: not_cleared */
/* Adds to the contents that y has on entry. */
#define STORE y[Y_INDEX] += sum;
#include "plain.cuh"
