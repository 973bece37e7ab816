// Reads memory that was never written: an accumulator that is not set to zero first.
#include "vgpu/tests/faults.cuh"

__global__ void accumulate(float *sum)
{
    sum[threadIdx.x] += 1; // expect: uninitialised
}

int main()
{
    Device<float> sum(32);
    accumulate<<<1, 32>>>(sum);
    return done(cudaSuccess);
}
