/* expect: sum_not_reset */
/* As in a kernel whose threads loop over the output maps, with the sum set to 0 before the loop. */
#define FOR_M for (int place = 0; place < H_out * W_out; place++)
#define FOR_H for (int h = place / W_out, j = 0; j < 1; j++)
#define FOR_W for (int m = 0, w = place % W_out; m < M; m++)
#define BEGIN_OUTPUT                                                                               \
    if (m == 0)                                                                                    \
        sum = 0;
#include "plain.h"
