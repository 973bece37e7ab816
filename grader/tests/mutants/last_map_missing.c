/* expect: last_map_missing */
#define FOR_M for (int m = 0; m < M - 1; m++)
#include "plain.h"
