/* expect: output_image_ignored */
#define Y_INDEX (m * H_out + h) * W_out + w
#include "plain.h"
