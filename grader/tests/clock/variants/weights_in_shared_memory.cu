/* A block stages the weights of its map first. */
#define BEGIN_BLOCK                                                                                \
    __shared__ float s_k[2048];                                                                    \
    for (int i = threadIdx.y * 16 + threadIdx.x; i < C * K * K; i += 256)                          \
        s_k[i] = k[m * C * K * K + i];                                                             \
    __syncthreads();
#define TERM sum += x[X_INDEX] * s_k[(c * K + p) * K + q];
#include "../../mutants_cuda/plain.cuh"
