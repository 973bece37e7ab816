// nvcc: -arch=compute_90
// A bulk copy (TMA): the module is refused with a message that names the line.
#include "vgpu/tests/faults.cuh"

__global__ void prefetch(const int *p)
{
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 16;" ::"l"(p));
}

int main()
{
    Device<int> p(4);
    prefetch<<<1, 1>>>(p);
    return cudaGetLastError() == cudaErrorInvalidPtx ? 0 : 1;
}
