// nvcc: -std=c++17 -arch=compute_90
// A block may end while the other block still reads its shared memory.
#include "vgpu/tests/faults.cuh"

#include <cooperative_groups.h>

__global__ void __cluster_dims__(2, 1, 1) pull(int *out)
{
    __shared__ int mine[64];
    auto cluster = cooperative_groups::this_cluster();
    mine[threadIdx.x] = threadIdx.x;
    cluster.sync();
    const int *theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    out[blockIdx.x * 64 + threadIdx.x] = theirs[63 - threadIdx.x]; // expect: cluster_exit
}

int main()
{
    Device<int> out(128);
    pull<<<2, 64>>>(out);
    return done(cudaSuccess);
}
