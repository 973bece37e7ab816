/* Shared by the submissions for matrix products. */
#include "gemm.h"

#include <stdlib.h>

#define ARGUMENTS int M, int N, int K, const float *A, const float *B, float *C

static int failed()
{
    return cudaGetLastError() != cudaSuccess;
}

/* Rows are along x, where a grid may have the most blocks; columns need a loop, because a grid may
 * have few blocks along y. */
static dim3 grid_of(int M, int N, int rows, int columns)
{
    const int across = (N - 1) / columns + 1;
    return dim3((M - 1) / rows + 1, across < 65535 ? across : 65535);
}

/* A submission of one launch of a kernel with the submission's arguments. */
#define SUBMISSION_LAUNCH(name, ...)                                                               \
    int name(ARGUMENTS)                                                                            \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return failed();                                                                           \
    }
