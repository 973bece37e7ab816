// The second warp reads data that the first warp writes, without a barrier in between.
#include "vgpu/tests/faults.cuh"

__global__ void pass(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32)
        s[t] = t;
    if (t >= 32)
        out[t - 32] = s[t - 32]; // expect: race_raw
}

int main()
{
    Device<int> out(32);
    pass<<<1, 64>>>(out);
    return done(cudaSuccess);
}
