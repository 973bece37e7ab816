// An array of doubles in shared memory begins after an odd number of floats.
#include "vgpu/tests/faults.cuh"

__global__ void carve(double *out, int floats)
{
    extern __shared__ __align__(16) char raw[];
    double *d = (double *)(raw + floats * sizeof(float));
    d[threadIdx.x] = threadIdx.x; // expect: misaligned
    out[threadIdx.x] = d[threadIdx.x];
}

int main()
{
    Device<double> out(16);
    carve<<<1, 16, 1024>>>(out, 5);
    return done(cudaErrorMisalignedAddress);
}
