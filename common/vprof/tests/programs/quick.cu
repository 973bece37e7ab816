// expect: kernel=5 status=3
/* Ends by _exit(), which calls no exit handlers. */
#include "sample.cuh"

#include <unistd.h>

int main()
{
    float *x;
    CHECK(cudaMalloc(&x, 4096));
    CHECK(cudaMemset(x, 0, 4096));
    for (int i = 0; i < 5; i++)
        scale<<<4, 256>>>(x, 1024, 2);
    CHECK(cudaDeviceSynchronize());
    _exit(3);
}
