/* expect: input_row_stride */
#define X_INDEX (b * C + c) * H *W + (h + p) * W_out + w + q
#include "plain.h"
