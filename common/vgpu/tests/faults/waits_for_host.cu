// A kernel waits for a flag that the host sets only after it has waited for the kernel.
#include "vgpu/tests/faults.cuh"

__global__ void wait(volatile int *flag, int *out)
{
    while (*flag == 0) // expect: no_progress
        ;
    *out = 1;
}

int main()
{
    Device<int> out(1);
    int *flag;
    CHECK(cudaMallocManaged(&flag, sizeof *flag));
    *flag = 0;
    wait<<<1, 1>>>(flag, out);
    const int failed = done(cudaErrorLaunchTimeout);
    *flag = 1;
    return failed;
}
