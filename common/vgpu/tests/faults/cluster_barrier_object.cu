// nvcc: -std=c++17 -arch=compute_90
// Arrives at a barrier object of another block, which may not have initialised it yet.
#include "vgpu/tests/bulk.cuh"
#include "vgpu/tests/faults.cuh"

#include <cooperative_groups.h>

__global__ void __cluster_dims__(2, 1, 1) work(int *out)
{
    __shared__ uint64_t full;
    auto cluster = cooperative_groups::this_cluster();
    unsigned theirs;
    if (threadIdx.x == 0)
        init(&full, 32);
    __syncthreads();
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(theirs) : "r"(at(&full)));
    if (cluster.block_rank() == 1)
        ARRIVE(theirs); // expect: race_cluster
    else
        WAIT(&full, 0);
    out[blockIdx.x * 32 + threadIdx.x] = 1;
    cluster.sync();
}

int main()
{
    Device<int> out(64);
    work<<<2, 32>>>(out);
    return done(cudaSuccess);
}
