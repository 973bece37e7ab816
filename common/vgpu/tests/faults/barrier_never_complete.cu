// nvcc: -std=c++17 -arch=compute_80
// A barrier of libcu++ for one thread more than exist. Its wait looks at the clock and sleeps longer and longer.
#include "vgpu/tests/faults.cuh"

#include <cuda/barrier>

__global__ void wait_for_all(int *out)
{
    __shared__ __align__(8) uint64_t raw;
    auto *b = reinterpret_cast<cuda::barrier<cuda::thread_scope_block> *>(&raw);
    if (threadIdx.x == 0)
        init(b, blockDim.x + 1);
    __syncthreads();
    b->arrive_and_wait(); // expect: no_progress
    out[threadIdx.x] = 1;
}

int main()
{
    Device<int> out(64);
    wait_for_all<<<1, 64>>>(out);
    return done(cudaErrorLaunchTimeout);
}
