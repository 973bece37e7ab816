// nvcc: -arch=compute_90
// A bulk copy in im2col mode: the launch is rejected, with the line of the copy.
#include "vgpu/tests/faults.cuh"

__global__ void prefetch(const void *map)
{
    asm volatile(
        "cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%0, {%1, %1, %1}], {%2};" ::"l"(map),
        "r"(0), "h"((short)0));
}

int main()
{
    Device<int> p(32);
    prefetch<<<1, 1>>>(p);
    return cudaGetLastError() == cudaErrorInvalidPtx ? 0 : 1;
}
