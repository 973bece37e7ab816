// nvcc: -arch=compute_90
// A launch in thread block clusters.
#include "vgpu/tests/faults.cuh"

__global__ void __cluster_dims__(2, 1, 1) fill(int *p)
{
    p[blockIdx.x] = 1;
}

int main()
{
    Device<int> p(4);
    fill<<<4, 1>>>(p);
    return cudaGetLastError() == cudaErrorNotSupported ? 0 : 1;
}
