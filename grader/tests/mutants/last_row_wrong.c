/* expect: last_row_wrong */
#define TERM sum += x[X_INDEX] * k[K_INDEX] * (h == H_out - 1 ? p + 2 : 1);
#include "plain.h"
