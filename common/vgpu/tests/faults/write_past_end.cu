// The kernel has no guard: a whole block writes past the end.
#include "vgpu/tests/faults.cuh"

__global__ void fill(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1; // expect: out_of_bounds
}

int main()
{
    Device<int> out(1000);
    fill<<<8, 128>>>(out);
    return done(cudaErrorIllegalAddress);
}
