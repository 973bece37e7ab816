/* expect: not_cleared */
/* memset takes bytes: only a quarter of y is cleared. */
#define BEGIN                                                                                      \
    float sum = 0;                                                                                 \
    memset(y, 0, (size_t)B *M *H_out *W_out);
#define STORE y[Y_INDEX] += sum;
#include "plain.h"
