// A deadlock: a thread takes the same lock twice, and waits for the lock that it holds itself. (Two
// locks taken in opposite order can also cause a deadlock.)
#include "vgpu/tests/faults.cuh"

__device__ int lock_word;

__global__ void twice(int *out)
{
    while (atomicCAS(&lock_word, 0, 1) != 0)
        ;
    while (atomicCAS(&lock_word, 0, 1) != 0) // expect: no_progress
        ;
    *out = 1;
}

int main()
{
    Device<int> out(1);
    twice<<<1, 1>>>(out);
    return done(cudaErrorLaunchTimeout);
}
