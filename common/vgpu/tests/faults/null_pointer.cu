// A forgotten cudaMalloc: the output is a null pointer.
#include "vgpu/tests/faults.cuh"

__global__ void fill(int *out)
{
    out[threadIdx.x] = 1; // expect: invalid_address
}

int main()
{
    fill<<<1, 32>>>((int *)nullptr);
    return done(cudaErrorIllegalAddress);
}
