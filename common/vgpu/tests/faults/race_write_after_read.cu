// A tile is overwritten for the next step while another warp may still read the previous one.
#include "vgpu/tests/faults.cuh"

__global__ void steps(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    int v = s[(t + 32) % 64];
    s[t] = v + 1; // expect: race_war
    __syncthreads();
    out[t] = s[t];
}

int main()
{
    Device<int> out(64);
    steps<<<1, 64>>>(out);
    return done(cudaSuccess);
}
