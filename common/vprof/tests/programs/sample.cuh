/* Shared by the profiled programs.
 *
 * The first lines of each program state what vprof must find, and the exit status:
 *     // expect: kernel=32 copy_htod=32 status=0
 * and, if needed, compiler flags, options of vprof, the program's arguments, and the device:
 *     // nvcc: -cudart static
 *     // vprof: --profile-from-start off
 *     // arguments: 100000
 *     // device: gpu */
#ifndef CONVLAB_SAMPLE_CUH
#define CONVLAB_SAMPLE_CUH

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void scale(float *x, int n, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] * by + 1;
}

#endif
