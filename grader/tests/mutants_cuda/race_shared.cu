/* expect: race_raw (behaviour) */
/* The first warp stages the map's weights in shared memory; the others do not wait for it. */
#define BEGIN                                                                                      \
    if (shape->C * K * K > 2048)                                                                   \
        return 1;
#define BEGIN_BLOCK                                                                                \
    __shared__ float s_k[2048];                                                                    \
    for (int i = threadIdx.y * 16 + threadIdx.x; threadIdx.y < 2 && i < C * K * K; i += 32)        \
        s_k[i] = k[m * C * K * K + i];                                                             \
    __syncwarp();
#define TERM sum += x[X_INDEX] * s_k[(c * K + p) * K + q];
#include "plain.cuh"
