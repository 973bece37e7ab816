/* expect: sum_not_reset */
/* As in a kernel whose threads loop over the images, with the sum set to 0 before the loop. */
#define FOR_B for (int place = 0; place < M * H_out * W_out; place++)
#define FOR_M for (int m = place / W_out / H_out, i = 0; i < 1; i++)
#define FOR_H for (int h = place / W_out % H_out, j = 0; j < 1; j++)
#define FOR_W for (int b = 0, w = place % W_out; b < B; b++)
#define BEGIN_OUTPUT                                                                               \
    if (b == 0)                                                                                    \
        sum = 0;
#include "plain.h"
