/* expect: output_map_ignored */
#define Y_INDEX (b * M * H_out + h) * W_out + w
#include "plain.h"
