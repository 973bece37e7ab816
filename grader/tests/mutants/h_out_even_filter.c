/* expect: h_out_off_by_one */
#define H_OUT (H - 2 * (K / 2))
#define W_OUT (W - 2 * (K / 2))
#include "plain.h"
