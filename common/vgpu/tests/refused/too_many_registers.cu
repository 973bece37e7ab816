// A kernel that needs more registers than a block of 1024 threads can have. No machine code states
// their number, so ptxas computes it.
#include "vgpu/tests/faults.cuh"

const int VALUES = 120;

__global__ void mix(float *out, int n)
{
    float a[VALUES];
#pragma unroll
    for (int k = 0; k < VALUES; k++)
        a[k] = out[k];
    for (int i = 0; i < n; i++)
#pragma unroll
        for (int k = 0; k < VALUES; k++)
            a[k] = a[k] * a[(k + 7) % VALUES] + 1;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < VALUES; k++)
        sum += a[k];
    out[threadIdx.x] = sum;
}

int main()
{
    Device<float> d(1024);
    d.zero();
    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, mix));
    EXPECT(a.numRegs >= VALUES && a.maxThreadsPerBlock < 1024);
    mix<<<1, 256>>>(d, 1);
    LAUNCHED();
    mix<<<1, 1024>>>(d, 1);
    return cudaGetLastError() == cudaErrorLaunchOutOfResources ? 0 : 1;
}
