// nvcc: -std=c++17 -arch=compute_90
// A bulk copy to global memory reads shared memory that was never written.
#include "vgpu/tests/bulk.cuh"
#include "vgpu/tests/faults.cuh"

__global__ void copy(int *out)
{
    __shared__ __align__(16) int tile[64];
    if (threadIdx.x != 5)
        tile[threadIdx.x] = threadIdx.x;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(out, tile, 256); // expect: uninitialised
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

int main()
{
    Device<int> out(64);
    copy<<<1, 64>>>(out);
    return done(cudaSuccess);
}
