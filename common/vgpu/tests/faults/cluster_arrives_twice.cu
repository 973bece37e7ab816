// nvcc: -std=c++17 -arch=compute_90
// Arrives at the barrier of the cluster twice, and never waits.
#include "vgpu/tests/faults.cuh"

__global__ void __cluster_dims__(2, 1, 1) work(int *out)
{
    asm volatile("barrier.cluster.arrive.aligned;");
    out[blockIdx.x] = 1;
    asm volatile("barrier.cluster.arrive.aligned;"); // expect: barrier_divergence
}

int main()
{
    Device<int> out(2);
    work<<<2, 32>>>(out);
    return done(cudaErrorLaunchFailure);
}
