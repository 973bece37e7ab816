// Memory that is not freed: not an error, and reported only on request (vgpu-run --leak-check).
#include "vgpu/tests/check.cuh"

int main()
{
    char *kept, *freed, *host;
    CHECK(cudaMalloc(&kept, 1000));
    CHECK(cudaMalloc(&freed, 2000));
    CHECK(cudaMallocHost(&host, 300));
    CHECK(cudaMemset(kept, 1, 1000));
    CHECK(cudaFree(freed));
    return verdict("never_freed", true);
}
