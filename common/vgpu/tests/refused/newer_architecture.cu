// nvcc: -arch=sm_100
// Code for a newer GPU than the virtual GPU.
#include "vgpu/tests/faults.cuh"

__global__ void fill(int *p)
{
    *p = 1;
}

int main()
{
    Device<int> p(1);
    fill<<<1, 1>>>(p);
    return cudaGetLastError() == cudaErrorNoKernelImageForDevice ? 0 : 1;
}
