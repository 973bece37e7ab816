/* expect: first_column_missing */
#define FOR_W for (int w = 1; w < W_out; w++)
#include "plain.h"
