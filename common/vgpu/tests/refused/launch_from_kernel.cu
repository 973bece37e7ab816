// nvcc: -arch=compute_75 -rdc=true -lcudadevrt
// A kernel that launches a kernel: the launch is refused, with the line.
#include "vgpu/tests/faults.cuh"
__global__ void child(int *p)
{
    *p = 1;
}
__global__ void parent(int *p)
{
    child<<<1, 1>>>(p);
}

int main()
{
    Device<int> p(1);
    parent<<<1, 1>>>(p);
    return cudaGetLastError() == cudaErrorNotSupported ? 0 : 1;
}
