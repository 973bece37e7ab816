/* expect: output_image_ignored */
/* Cleared, but all images are added into image 0 */
#define BEGIN                                                                                      \
    float sum = 0;                                                                                 \
    memset(y, 0, (size_t)B *M *H_out *W_out * sizeof *y);
#define STORE y[(m * H_out + h) * W_out + w] += sum;
#include "plain.h"
