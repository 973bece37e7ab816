/* expect: last_row_missing */
#define BEGIN                                                                                      \
    float sum = 0;                                                                                 \
    memset(y, 0, (size_t)B *M *H_out *W_out * sizeof *y);
#define FOR_H for (int h = 0; h < H_out - 1; h++)
#include "plain.h"
