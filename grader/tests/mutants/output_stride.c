/* expect: output_stride */
#define Y_INDEX ((b * C + m) * H_out + h) * W_out + w
#include "plain.h"
