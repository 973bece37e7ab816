/* A block stages the part of x that it needs, map by map. K is at most 7. */
#define BEGIN_BLOCK                                                                                \
    __shared__ float s_x[22][22];                                                                  \
    float sum = 0;                                                                                 \
    const int h0 = blockIdx.y * 16, w0 = blockIdx.x * 16, side = 16 + K - 1;                       \
    for (int c = 0; c < C; c++) {                                                                  \
        __syncthreads();                                                                           \
        for (int i = threadIdx.y; i < side; i += 16)                                               \
            for (int j = threadIdx.x; j < side; j += 16)                                           \
                s_x[i][j] =                                                                        \
                    h0 + i < H && w0 + j < W ? x[((b * C + c) * H + h0 + i) * W + w0 + j] : 0;     \
        __syncthreads();                                                                           \
        for (int p = 0; p < K; p++)                                                                \
            for (int q = 0; q < K; q++)                                                            \
                sum += s_x[threadIdx.y + p][threadIdx.x + q] * k[K_INDEX];                         \
    }                                                                                              \
    if (h < H_out && w < W_out)                                                                    \
        y[Y_INDEX] = sum;                                                                          \
    return;
#define TERM  (void)sum;
#define STORE (void)sum;
#include "../../mutants_cuda/plain.cuh"
