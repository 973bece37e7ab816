// A warp reads words that another warp wrote, both volatile, without a barrier in between.
#include "vgpu/tests/faults.cuh"

__global__ void exchange(float *out)
{
    __shared__ volatile float tile[64];
    const int t = threadIdx.x;
    tile[t] = 0;
    __syncthreads();
    tile[t] = (float)t;
    out[t] = tile[(t + 32) % 64]; // expect: race_raw
}

int main()
{
    Device<float> out(64);
    exchange<<<1, 64>>>(out);
    return done(cudaSuccess);
}
