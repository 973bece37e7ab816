/* A thread computes four maps: each element of x that it loads is used four times. M is at least a
 * multiple of 2; a map past the last is computed like the last one and not stored. */
#define GRID dim3((W_out + 15) / 16, (H_out + 15) / 16, B * ((M + 3) / 4))
#define BEGIN_BLOCK                                                                                \
    const int groups = (M + 3) / 4, b4 = blockIdx.z / groups, m4 = blockIdx.z % groups * 4;        \
    if (h >= H_out || w >= W_out)                                                                  \
        return;                                                                                    \
    float sums[4] = {0, 0, 0, 0};                                                                  \
    for (int c = 0; c < C; c++)                                                                    \
        for (int p = 0; p < K; p++)                                                                \
            for (int q = 0; q < K; q++) {                                                          \
                const float v = x[((b4 * C + c) * H + h + p) * W + w + q];                         \
                for (int j = 0; j < 4; j++) {                                                      \
                    const int mj = m4 + j < M ? m4 + j : M - 1;                                    \
                    sums[j] += v * k[((mj * C + c) * K + p) * K + q];                              \
                }                                                                                  \
            }                                                                                      \
    for (int j = 0; j < 4; j++)                                                                    \
        if (m4 + j < M)                                                                            \
            y[((size_t)(b4 * M + m4 + j) * H_out + h) * W_out + w] = sums[j];                      \
    (void)b, (void)m;                                                                              \
    return;
#define TERM  (void)sum;
#define STORE (void)sum;
#include "../../mutants_cuda/plain.cuh"
