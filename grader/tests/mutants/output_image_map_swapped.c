/* expect: output_image_map_swapped */
#define Y_INDEX ((m * B + b) * H_out + h) * W_out + w
#include "plain.h"
