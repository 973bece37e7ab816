// A kernel gets the address of the host's array.
// (A GPU that can read ordinary host memory reports no error.)
#include "vgpu/tests/faults.cuh"

__global__ void sum(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x]; // expect: invalid_address
}

int main()
{
    std::vector<int> in(32, 1);
    Device<int> out(32);
    sum<<<1, 32>>>(in.data(), out);
    return done(cudaErrorIllegalAddress);
}
