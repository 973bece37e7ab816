/* expect: first_row_missing */
#define FOR_H for (int h = 1; h < H_out; h++)
#include "plain.h"
