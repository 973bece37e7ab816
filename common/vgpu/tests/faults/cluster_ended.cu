// nvcc: -std=c++17 -arch=compute_90
// One block of a cluster returns at once; another block writes to its shared memory.
#include "vgpu/tests/faults.cuh"

#include <cooperative_groups.h>

__global__ void __cluster_dims__(2, 1, 1) push(int *out)
{
    __shared__ int mine[32];
    auto cluster = cooperative_groups::this_cluster();
    if (cluster.block_rank() == 0)
        return;
    cluster.map_shared_rank(mine, 0)[threadIdx.x] = 1; // expect: cluster_exit
    out[threadIdx.x] = 1;
}

int main()
{
    Device<int> out(32);
    push<<<2, 32>>>(out);
    return done(cudaSuccess);
}
