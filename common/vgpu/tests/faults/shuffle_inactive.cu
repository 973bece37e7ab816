// A warp sum in which half of the lanes have left: their values are read nevertheless.
#include "vgpu/tests/faults.cuh"

__global__ void sum(int *out)
{
    int v = threadIdx.x;
    if (threadIdx.x < 16) {
        v += __shfl_down_sync(0xffff, v, 8, 32); // expect: undefined_shuffle
        out[threadIdx.x] = v;
    }
}

int main()
{
    Device<int> out(32);
    sum<<<1, 32>>>(out);
    return done(cudaSuccess);
}
