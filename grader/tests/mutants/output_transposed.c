/* expect: output_transposed */
#define Y_INDEX (b * M + m) * H_out *W_out + w *H_out + h
#include "plain.h"
