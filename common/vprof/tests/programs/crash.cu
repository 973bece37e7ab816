// expect: kernel=5 cudaMalloc=1 status=139
/* Five kernels, and then the host writes to unmapped memory. */
#include "sample.cuh"

int main()
{
    float *x;
    CHECK(cudaMalloc(&x, 4096));
    CHECK(cudaMemset(x, 0, 4096));
    for (int i = 0; i < 5; i++)
        scale<<<4, 256>>>(x, 1024, 2);
    CHECK(cudaDeviceSynchronize());
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
    return 0;
}
