// A launch that requests less dynamic shared memory than the kernel uses.
#include "vgpu/tests/faults.cuh"

__global__ void reverse(int *out)
{
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x; // expect: out_of_bounds
    __syncthreads();
    out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

int main()
{
    Device<int> out(128);
    reverse<<<1, 128, 64 * sizeof(int)>>>(out);
    return done(cudaErrorIllegalAddress);
}
