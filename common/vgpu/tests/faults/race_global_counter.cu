// All blocks add to a variable without atomics.
#include "vgpu/tests/faults.cuh"

__device__ int found;

__global__ void count(const int *in)
{
    if (in[blockIdx.x * blockDim.x + threadIdx.x] > 2)
        found++; // expect: race_global
}

int main()
{
    Device<int> in(std::vector<int>(64 * 10, 3));
    count<<<10, 64>>>(in);
    return done(cudaSuccess);
}
