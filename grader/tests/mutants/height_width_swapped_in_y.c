/* expect: height_width_swapped */
#define Y_INDEX (b * M + m) * H_out *W_out + h *H_out + w
#include "plain.h"
