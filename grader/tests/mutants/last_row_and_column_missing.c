/* expect: last_row_and_column_missing */
#define FOR_H for (int h = 0; h < H - K; h++)
#define FOR_W for (int w = 0; w < W - K; w++)
#include "plain.h"
