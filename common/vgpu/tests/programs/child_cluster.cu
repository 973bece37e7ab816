// nvcc: -std=c++17 -arch=compute_90 -rdc=true
// A kernel that launches a kernel of clusters: its blocks read each other's shared memory. A grid that is not a
// multiple of the cluster is refused.
#include "vgpu/tests/check.cuh"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(int *out)
{
    __shared__ int mine;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        mine = 100 + blockIdx.x;
    cluster.sync();
    if (threadIdx.x == 0)
        out[blockIdx.x] = *cluster.map_shared_rank(&mine, cluster.block_rank() ^ 1);
    cluster.sync();
}

__global__ void parent(int *out, int *errors)
{
    exchange<<<6, 32>>>(out);
    errors[0] = cudaGetLastError();
    exchange<<<5, 32>>>(out + 6);
    errors[1] = cudaGetLastError();
}

int main()
{
    Device<int> out(16), errors(2);
    out.zero();
    parent<<<1, 1>>>(out, errors);
    LAUNCHED();
    std::vector<int> got = out.host(), error = errors.host();
    bool ok = error[0] == cudaSuccess && error[1] != cudaSuccess;
    for (int i = 0; i < 16; i++)
        ok &= got[i] == (i < 6 ? 100 + (i ^ 1) : 0);
    return verdict("child_cluster", ok, got);
}
