// nvcc: -std=c++17 -arch=compute_90
// A block of a cluster waits at its own barrier for a thread that waits at the cluster's barrier.
#include "vgpu/tests/faults.cuh"

#include <cooperative_groups.h>

__global__ void __cluster_dims__(2, 1, 1) work(int *out)
{
    auto cluster = cooperative_groups::this_cluster();
    if (cluster.block_rank() == 1 && threadIdx.x >= 32)
        __syncthreads(); // expect: barrier_divergence
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] = 1;
}

int main()
{
    Device<int> out(128);
    work<<<2, 64>>>(out);
    return done(cudaErrorLaunchFailure);
}
