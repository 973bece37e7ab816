// The first kernel is right, the second kernel faults: the report must name the second kernel.
#include "vgpu/tests/faults.cuh"

__global__ void fill(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = i;
}

__global__ void shift(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? p[i + 1] : 0; // expect: out_of_bounds
    if (i == 1)
        p[n - 1] = v;
}

int main()
{
    Device<int> p(256);
    fill<<<2, 128>>>(p, 256);
    shift<<<2, 128>>>(p, 256);
    return done(cudaErrorIllegalAddress);
}
