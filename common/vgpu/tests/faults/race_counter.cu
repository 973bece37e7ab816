// One thread of each warp writes a shared counter, without atomics. The order of the warps
// determines the first hazard.
#include "vgpu/tests/faults.cuh"

__global__ void count(int *out)
{
    __shared__ int n;
    if (threadIdx.x == 0)
        n = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        *(volatile int *)&n = 1 + (int)threadIdx.x; // expect: race_waw
    __syncthreads();
    if (threadIdx.x == 0)
        *out = n;
}

int main()
{
    Device<int> out(1);
    count<<<1, 96>>>(out);
    return done(cudaSuccess);
}
