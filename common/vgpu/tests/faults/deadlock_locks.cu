// A deadlock of two locks taken in opposite order, or of one lock taken twice: here the holder
// waits for the lock that it holds itself.
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
