/* expect: leftover_maps */
#define FOR_M for (int m = 0; m < M / 4 * 4; m++)
#include "plain.h"
