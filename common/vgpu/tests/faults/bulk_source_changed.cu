// nvcc: -std=c++17 -arch=compute_90
// Changes shared memory that a bulk copy may still be reading.
#include "vgpu/tests/bulk.cuh"
#include "vgpu/tests/faults.cuh"

__global__ void copy(int *out)
{
    __shared__ __align__(16) int tile[64];
    for (int i = 0; i < 2; i++) {
        tile[threadIdx.x] = threadIdx.x + i;
        fence_async();
        __syncthreads();
        if (threadIdx.x == 0)
            STORE(out + 64 * i, tile, 256); // expect: race_war
        __syncthreads();
    }
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

int main()
{
    Device<int> out(128);
    copy<<<1, 64>>>(out);
    return done(cudaSuccess);
}
