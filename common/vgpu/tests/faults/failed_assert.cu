// A device-side assertion that fails.
#include "vgpu/tests/faults.cuh"

#include <cassert>

__global__ void check(const int *in)
{
    assert(in[threadIdx.x] >= 0); // expect: assert
}

int main()
{
    std::vector<int> v(32, 1);
    v[9] = -1;
    Device<int> in(v);
    check<<<1, 32>>>(in);
    return done(cudaErrorAssert);
}
