/* expect: last_row_missing */
#define FOR_H for (int h = 0; h < H - K; h++)
#include "plain.h"
