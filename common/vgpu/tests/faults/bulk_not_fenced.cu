// nvcc: -std=c++17 -arch=compute_90
// Threads write shared memory and a bulk copy reads it, without a fence of the async proxy.
#include "vgpu/tests/bulk.cuh"
#include "vgpu/tests/faults.cuh"

__global__ void copy(int *out)
{
    __shared__ __align__(16) int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(out, tile, 256); // expect: async_proxy
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

int main()
{
    Device<int> out(64);
    copy<<<1, 64>>>(out);
    return done(cudaSuccess);
}
