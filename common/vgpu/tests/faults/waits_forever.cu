// A thread waits for a flag that is never set.
#include "vgpu/tests/faults.cuh"

__global__ void wait(volatile int *flag, int *out)
{
    while (*flag == 0) // expect: no_progress
        ;
    *out = 1;
}

int main()
{
    Device<int> flag(1), out(1);
    flag.zero();
    wait<<<1, 1>>>(flag, out);
    return done(cudaErrorLaunchTimeout);
}
