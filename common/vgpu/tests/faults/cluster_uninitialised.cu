// nvcc: -std=c++17 -arch=compute_90
// Reads unwritten shared memory of another block.
#include "vgpu/tests/faults.cuh"

#include <cooperative_groups.h>

__global__ void __cluster_dims__(2, 1, 1) pull(int *out)
{
    __shared__ int mine[64];
    auto cluster = cooperative_groups::this_cluster();
    if (cluster.block_rank() == 0)
        mine[threadIdx.x] = threadIdx.x;
    cluster.sync();
    const int *theirs = cluster.map_shared_rank(mine, 1);
    out[blockIdx.x * 64 + threadIdx.x] = theirs[threadIdx.x] + mine[0]; // expect: uninitialised
    cluster.sync();
}

int main()
{
    Device<int> out(128);
    pull<<<2, 64>>>(out);
    return done(cudaSuccess);
}
