// A kernel that faults: the next synchronisation returns the error, which remains until the process
// ends.

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
    // cudaGetLastError() clears the error that it returned, but the device keeps it.
    cudaGetLastError();
    ok &= cudaGetLastError() == cudaSuccess;
    fault<<<1, 1>>>(d);
    ok &= cudaPeekAtLastError() == cudaErrorIllegalAddress;
    ok &= cudaDeviceSynchronize() == cudaErrorIllegalAddress;
    // The process can select and reset the device, but can no longer use it.
    ok &= cudaDeviceSetLimit(cudaLimitStackSize, 2048) == cudaErrorIllegalAddress;
    ok &= cudaSetDevice(0) == cudaSuccess;
    cudaGetLastError();
    ok &= cudaDeviceReset() == cudaSuccess;
    ok &= cudaSetDevice(0) == cudaErrorDevicesUnavailable;
    ok &= cudaMalloc(&p, 4) == cudaErrorDevicesUnavailable;
    return verdict("sticky_error", ok);
}
