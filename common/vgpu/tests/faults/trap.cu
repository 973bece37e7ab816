// A kernel that ends itself with a trap.
#include "vgpu/tests/faults.cuh"

__global__ void give_up(int *out, int n)
{
    if (n > 3)
        __trap(); // expect: trap
    *out = n;
}

int main()
{
    Device<int> out(1);
    give_up<<<1, 1>>>(out, 4);
    return done(cudaErrorLaunchFailure);
}
