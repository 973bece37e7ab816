// nvcc: -std=c++17 -arch=compute_90
// Writes past the end of another block's shared memory.
#include "vgpu/tests/faults.cuh"

#include <cooperative_groups.h>

__global__ void __cluster_dims__(2, 1, 1) push(int n)
{
    extern __shared__ int mine[];
    auto cluster = cooperative_groups::this_cluster();
    int *theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    cluster.sync();
    theirs[threadIdx.x + n] = 1; // expect: out_of_bounds
    cluster.sync();
}

int main()
{
    push<<<2, 64, 64 * sizeof(int)>>>(4096);
    return done(cudaErrorIllegalAddress);
}
