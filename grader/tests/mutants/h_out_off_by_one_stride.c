/* expect: h_out_off_by_one */
#define Y_INDEX ((b * M + m) * (H - K) + h) * W_out + w
#include "plain.h"
