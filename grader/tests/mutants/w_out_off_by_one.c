/* expect: w_out_off_by_one */
#define W_OUT (W - K)
#include "plain.h"
