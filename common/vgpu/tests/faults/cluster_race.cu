// nvcc: -std=c++17 -arch=compute_90
// Between remote writes and the reads, blocks use __syncthreads() instead of the cluster's barrier.
#include "vgpu/tests/faults.cuh"

#include <cooperative_groups.h>

__global__ void __cluster_dims__(2, 1, 1) exchange(int *out)
{
    __shared__ int mine[64];
    auto cluster = cooperative_groups::this_cluster();
    mine[threadIdx.x] = 0;
    cluster.sync();
    int *theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    theirs[threadIdx.x] = threadIdx.x; // expect: race_cluster
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = mine[63 - threadIdx.x];
    cluster.sync();
}

int main()
{
    Device<int> out(128);
    exchange<<<2, 64>>>(out);
    return done(cudaSuccess);
}
