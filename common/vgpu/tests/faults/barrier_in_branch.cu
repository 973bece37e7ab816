// __syncthreads() in a branch that only half of the threads take.
#include "vgpu/tests/faults.cuh"

__global__ void work(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    if (t < 32) {
        __syncthreads(); // expect: barrier_divergence
        out[t] = s[t + 32];
    } else {
        while (*(volatile int *)&out[t] == 0) // waits for a value stored after the barrier
            ;
    }
}

int main()
{
    Device<int> out(64);
    out.zero();
    work<<<1, 64>>>(out);
    return done(cudaErrorLaunchFailure);
}
