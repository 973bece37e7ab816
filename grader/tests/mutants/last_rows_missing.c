/* expect: last_rows_missing */
#define FOR_H for (int h = 0; h < H_out - K + 1; h++)
#include "plain.h"
