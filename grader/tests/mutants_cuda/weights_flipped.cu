/* expect: weights_flipped */
#define K_INDEX ((m * C + c) * K + K - 1 - p) * K + K - 1 - q
#include "plain.cuh"
