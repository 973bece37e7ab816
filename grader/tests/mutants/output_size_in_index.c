/* expect: output_size */
#define Y_INDEX ((b * M + m) * H + h) * W + w
#include "plain.h"
