/* expect: h_out_off_by_one */
#define H_OUT (H - K)
#define W_OUT (W - K)
#include "plain.h"
