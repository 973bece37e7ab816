// A kernel that faults: the error comes at the next synchronisation, and stays for the whole
// process. vgpu: faults
#include "vgpu/tests/check.cuh"

__global__ void fault(int *p)
{
    *p = 1;
}

int main()
{
    int *d;
    CHECK(cudaMalloc(&d, 4));
    fault<<<1, 1>>>((int *)nullptr);
    cudaError_t first = cudaDeviceSynchronize(), second = cudaDeviceSynchronize();
    void *p;
    bool ok = first == cudaErrorIllegalAddress && second == cudaErrorIllegalAddress;
    ok &= cudaMalloc(&p, 4) == cudaErrorIllegalAddress;
    ok &= cudaMemcpy(d, d, 4, cudaMemcpyDeviceToDevice) == cudaErrorIllegalAddress;
    ok &= cudaGetLastError() == cudaErrorIllegalAddress;
    ok &= cudaGetLastError() == cudaErrorIllegalAddress;
    return verdict("sticky_error", ok);
}
