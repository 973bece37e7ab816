// A thread takes a number out of memory that was never written.
#include "vgpu/tests/faults.cuh"

__global__ void take(int *numbers, int *out)
{
    out[threadIdx.x] = atomicExch(&numbers[threadIdx.x], 0); // expect: uninitialised
}

int main()
{
    Device<int> numbers(32), out(32);
    take<<<1, 32>>>(numbers, out);
    return done(cudaSuccess);
}
