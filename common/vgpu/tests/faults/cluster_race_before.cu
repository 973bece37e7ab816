// nvcc: -std=c++17 -arch=compute_90
// A block reads a word that another block overwrites: no barrier of the cluster orders the two.
#include "vgpu/tests/faults.cuh"

#include <cooperative_groups.h>

__global__ void __cluster_dims__(2, 1, 1) pull(int *out)
{
    __shared__ int mine[64];
    auto cluster = cooperative_groups::this_cluster();
    mine[threadIdx.x] = threadIdx.x;
    cluster.sync();
    const int *theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    int v = theirs[threadIdx.x]; // expect: race_cluster
    __syncthreads();
    mine[threadIdx.x] = v + 1;
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] = mine[63 - threadIdx.x];
}

int main()
{
    Device<int> out(128);
    pull<<<2, 64>>>(out);
    return done(cudaSuccess);
}
