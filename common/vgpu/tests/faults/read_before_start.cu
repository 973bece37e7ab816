// A stencil that reads element -1.
#include "vgpu/tests/faults.cuh"

__global__ void stencil(const int *in, int *out, int n)
{
    int i = threadIdx.x;
    if (i + 1 < n)
        out[i] = in[i - 1] + in[i + 1]; // expect: out_of_bounds
}

int main()
{
    Device<int> in(std::vector<int>(64, 1)), out(64);
    stencil<<<1, 64>>>(in, out, 64);
    return done(cudaErrorIllegalAddress);
}
