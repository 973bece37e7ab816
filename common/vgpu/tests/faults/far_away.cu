// An index that is far too large: the address is outside all memory.
#include "vgpu/tests/faults.cuh"

__global__ void scatter(int *out, long long stride)
{
    out[threadIdx.x * stride] = 1; // expect: invalid_address
}

int main()
{
    Device<int> out(64);
    scatter<<<1, 2>>>(out, 1LL << 44);
    return done(cudaErrorIllegalAddress);
}
