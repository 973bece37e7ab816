/* expect: odd_rows_missing */
#define FOR_H for (int h = 0; h < H_out; h += 2)
#include "plain.h"
