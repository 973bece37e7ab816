/* expect: only_map_0 */
#define FOR_M for (int m = 0; m < 1; m++)
#include "plain.h"
