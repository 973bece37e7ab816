// A kernel gets a pointer that the host has freed.
#include "vgpu/tests/faults.cuh"

__global__ void increment(int *p)
{
    p[threadIdx.x] += 1; // expect: use_after_free
}

int main()
{
    int *p;
    CHECK(cudaMalloc(&p, 32 * sizeof(int)));
    CHECK(cudaMemset(p, 0, 32 * sizeof(int)));
    CHECK(cudaFree(p));
    increment<<<1, 32>>>(p);
    return done(cudaErrorIllegalAddress);
}
