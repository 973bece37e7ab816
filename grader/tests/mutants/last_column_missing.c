/* expect: last_column_missing */
#define FOR_W for (int w = 0; w < W - K; w++)
#include "plain.h"
