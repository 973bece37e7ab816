// expect: kernel=7 memset=1 cudaLaunchKernel=7 cudaMalloc=1 cudaProfilerStop=0 status=0
/* Between cudaProfilerStop() and cudaProfilerStart() nothing is recorded. Work requested before is
 * recorded, even if it has not ended yet. */
#include "sample.cuh"

#include <cuda_profiler_api.h>

int main()
{
    float *x;
    CHECK(cudaMalloc(&x, 4096));
    CHECK(cudaMemset(x, 0, 4096));
    for (int i = 0; i < 12; i++) {
        if (i == 4)
            CHECK(cudaProfilerStop());
        if (i == 9) {
            CHECK(cudaMemset(x, 0, 4096));
            CHECK(cudaProfilerStart());
        }
        scale<<<4, 256>>>(x, 1024, 2);
    }
    CHECK(cudaDeviceSynchronize());
    return 0;
}
