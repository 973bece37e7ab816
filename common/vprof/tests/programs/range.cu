// vprof: --profile-from-start off
// expect: kernel=4 memset=0 cudaLaunchKernel=4 cudaMalloc=0 status=0
/* Only the range between cudaProfilerStart() and cudaProfilerStop() is requested. */
#include "sample.cuh"

#include <cuda_profiler_api.h>

int main()
{
    float *x;
    CHECK(cudaMalloc(&x, 4096));
    CHECK(cudaMemset(x, 0, 4096));
    for (int i = 0; i < 12; i++) {
        if (i == 3 || i == 8)
            CHECK(cudaProfilerStart());
        scale<<<4, 256>>>(x, 1024, 2);
        if (i == 4 || i == 9)
            CHECK(cudaProfilerStop());
    }
    CHECK(cudaDeviceSynchronize());
    return 0;
}
