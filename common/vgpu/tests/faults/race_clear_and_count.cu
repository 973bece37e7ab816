// A lane clears a counter and the lanes add to it with atomics, without __syncwarp in between. Then
// all threads read a value and one of them also writes it, without a barrier in between: each
// finding names the other thread.
#include "vgpu/tests/faults.cuh"

__global__ void count(int *out)
{
    __shared__ int n, all;
    const int t = threadIdx.x;
    if (t == 0)
        n = 0;
    atomicAdd(&n, 1); // expect: race_raw
    if (t == 0)
        all = 7;
    __syncthreads();
    out[t] = all;
    if (t == 0)
        all = out[0] + 1; // expect: race_war
}

int main()
{
    Device<int> out(64);
    count<<<1, 64>>>(out);
    return done(cudaSuccess);
}
