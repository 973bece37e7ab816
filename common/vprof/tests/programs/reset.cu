// expect: kernel=10 cudaDeviceReset=1 status=0
/* The context ends without waiting for its kernels, and a new context begins. */
#include "sample.cuh"

int main()
{
    for (int round = 0; round < 2; round++) {
        float *x;
        CHECK(cudaMalloc(&x, 4096));
        CHECK(cudaMemset(x, 0, 4096));
        for (int i = 0; i < 5; i++)
            scale<<<4, 256>>>(x, 1024, 2);
        if (round == 0)
            CHECK(cudaDeviceReset());
    }
    CHECK(cudaDeviceSynchronize());
    return 0;
}
