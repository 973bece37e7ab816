/* expect: height_width_swapped */
#define W_OUT (H - K + 1)
#include "plain.h"
