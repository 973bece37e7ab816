// A recursion whose end condition is never true.
#include "vgpu/tests/faults.cuh"

__device__ __noinline__ int down(int n, int *trace)
{
    int here[16];
    for (int i = 0; i < 16; i++)
        here[i] = n + i;
    trace[n & 7] = n;
    int deeper = n == -1 ? 0 : down(n + 1, trace); // expect: stack_overflow
    return deeper + here[(n & 7) + (deeper & 7)];
}

__global__ void start(int *out)
{
    out[8] = down(0, out);
}

int main()
{
    Device<int> out(16);
    start<<<1, 1>>>(out);
    return done(cudaErrorIllegalAddress);
}
