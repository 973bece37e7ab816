/* expect: only_first_maps */
#define FOR_M for (int m = 0; m < (M < 16 ? M : 16); m++)
#include "plain.h"
