// expect: kernel=10 cudaLaunchKernel=10 status=0
/* Launches kernels and ends without waiting. */
#include "sample.cuh"

int main()
{
    float *x;
    CHECK(cudaMalloc(&x, 1 << 22));
    CHECK(cudaMemset(x, 0, 1 << 22));
    for (int i = 0; i < 10; i++)
        scale<<<1 << 12, 256>>>(x, 1 << 20, 2);
    return 0;
}
