// An index past a __device__ array.
#include "vgpu/tests/faults.cuh"

__device__ int table[10];

__global__ void write(int n)
{
    if ((int)threadIdx.x <= n)
        table[threadIdx.x] = 1; // expect: out_of_bounds
}

int main()
{
    write<<<1, 32>>>(10);
    return done(cudaErrorIllegalAddress);
}
