// A lane clears a counter and others add to it with atomics, without __syncwarp between them. Then
// a lane reads a value to which others still add, and one of the threads that read a value also
// writes it: each finding names the other thread.
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
