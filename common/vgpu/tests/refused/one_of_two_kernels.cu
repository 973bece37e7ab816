// nvcc: -arch=compute_90
// A kernel that calls a function with an unsupported instruction: only this kernel is rejected.
#include "vgpu/tests/faults.cuh"

__device__ __noinline__ int sum(const int *p)
{
    int v;
    asm volatile("multimem.ld_reduce.global.add.s32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}

__global__ void refused(int *p)
{
    *p = sum(p);
}

__global__ void good(int *p)
{
    p[threadIdx.x] = 7;
}

int main()
{
    Device<int> p(4);
    refused<<<1, 1>>>(p);
    if (cudaGetLastError() != cudaErrorNotSupported)
        return 1;
    good<<<1, 4>>>(p);
    return cudaDeviceSynchronize() == cudaSuccess && p.host()[3] == 7 ? 0 : 1;
}
