// An int written to an odd byte address.
#include "vgpu/tests/faults.cuh"

__global__ void store(char *out)
{
    *(int *)(out + 5 * threadIdx.x) = 7; // expect: misaligned
}

int main()
{
    Device<char> out(256);
    store<<<1, 8>>>(out);
    return done(cudaErrorMisalignedAddress);
}
