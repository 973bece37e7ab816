// nvcc: -std=c++17 -arch=compute_90
// Requests the shared memory of a third block in clusters of two.
#include "vgpu/tests/faults.cuh"

#include <cooperative_groups.h>

__global__ void __cluster_dims__(2, 1, 1) push(int rank)
{
    __shared__ int mine[32];
    auto cluster = cooperative_groups::this_cluster();
    int *theirs = cluster.map_shared_rank(mine, rank); // expect: invalid_object
    cluster.sync();
    theirs[threadIdx.x] = 1;
    cluster.sync();
}

int main()
{
    push<<<2, 32>>>(2);
    return done(cudaErrorIllegalAddress);
}
