// All blocks add to the same elements without atomics: a block may overwrite another block's sum.
#include "vgpu/tests/faults.cuh"

__global__ void sum(const int *in, int *out)
{
    out[threadIdx.x] += in[blockIdx.x * blockDim.x + threadIdx.x]; // expect: race_global
}

int main()
{
    Device<int> in(std::vector<int>(64 * 10, 1)), out(std::vector<int>(64, 0));
    sum<<<10, 64>>>(in, out);
    return done(cudaSuccess);
}
