// A kernel that faults: the error comes at the next synchronisation, and stays for the whole
// process.

// vgpu: faults
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
    cudaError_t more[] = {first,
                          second,
                          cudaMalloc(&p, 4),
                          cudaMemcpy(d, d, 4, cudaMemcpyDeviceToDevice),
                          cudaGetLastError(),
                          cudaStreamSynchronize(0)};
    bool ok = true;
    for (cudaError_t e : more) {
        if (e != cudaErrorIllegalAddress)
            printf("got %s\n", cudaGetErrorName(e));
        ok &= e == cudaErrorIllegalAddress;
    }
    // cudaGetLastError() forgets what it returned, but the device does not.
    cudaGetLastError();
    ok &= cudaGetLastError() == cudaSuccess;
    fault<<<1, 1>>>(d);
    ok &= cudaPeekAtLastError() == cudaErrorIllegalAddress;
    ok &= cudaDeviceSynchronize() == cudaErrorIllegalAddress;
    // A device can be chosen and given back, but it is of no more use to this process.
    ok &= cudaDeviceSetLimit(cudaLimitStackSize, 2048) == cudaErrorIllegalAddress;
    ok &= cudaSetDevice(0) == cudaSuccess;
    cudaGetLastError();
    ok &= cudaDeviceReset() == cudaSuccess;
    ok &= cudaSetDevice(0) == cudaErrorDevicesUnavailable;
    ok &= cudaMalloc(&p, 4) == cudaErrorDevicesUnavailable;
    return verdict("sticky_error", ok);
}
