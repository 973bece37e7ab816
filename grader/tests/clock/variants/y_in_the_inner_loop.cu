/* The sum is kept in global memory: one more load and store per term. */
#define BEGIN_BLOCK                                                                                \
    volatile float *mine = y;                                                                      \
    if (h < H_out && w < W_out)                                                                    \
        mine[Y_INDEX] = 0;
#define TERM  mine[Y_INDEX] += x[X_INDEX] * k[K_INDEX];
#define STORE (void)sum;
#include "../../mutants_cuda/plain.cuh"
