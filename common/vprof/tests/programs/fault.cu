// expect: kernel>=3 cudaDeviceSynchronize=2 status=1
/* Three right kernels, and one that writes out of bounds: the context is lost, and the program
 * reports the error. */
#include "sample.cuh"

int main()
{
    float *x;
    CHECK(cudaMalloc(&x, 4096));
    CHECK(cudaMemset(x, 0, 4096));
    for (int i = 0; i < 3; i++)
        scale<<<4, 256>>>(x, 1024, 2);
    CHECK(cudaDeviceSynchronize());
    scale<<<4, 256>>>((float *)0x10, 1024, 2);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
