// A histogram with a value that has no bin.
#include "vgpu/tests/faults.cuh"

__global__ void histogram(const int *in, int *bins)
{
    atomicAdd(&bins[in[threadIdx.x]], 1); // expect: out_of_bounds
}

int main()
{
    std::vector<int> v(32, 3);
    v[20] = 16;
    Device<int> in(v), bins(16);
    bins.zero();
    histogram<<<1, 32>>>(in, bins);
    return done(cudaErrorIllegalAddress);
}
