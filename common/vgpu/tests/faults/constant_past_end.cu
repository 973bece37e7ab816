// Reads more weights than the constant array has.
#include "vgpu/tests/faults.cuh"

__constant__ float weights[25];

__global__ void read(float *out, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += weights[i * 4]; // expect: out_of_bounds
    out[threadIdx.x] = sum;
}

int main()
{
    Device<float> out(32);
    read<<<1, 32>>>(out, 8);
    return done(cudaErrorIllegalAddress);
}
