/* expect: h_out_off_by_one */
#define H_OUT (H - K + 2)
#include "plain.h"
