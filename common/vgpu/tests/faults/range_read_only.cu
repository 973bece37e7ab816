// A kernel writes to mapped memory that it may only read.
#include "vgpu/tests/range.cuh"

__global__ void use(int *p, int *out)
{
    p[threadIdx.x] = 1; // expect: no_access
}

int main()
{
    Device<int> out(32);
    const CUdeviceptr p = half_mapped(CU_MEM_ACCESS_FLAGS_PROT_READ);
    use<<<1, 32>>>((int *)p, out);
    return done(cudaErrorIllegalAddress);
}
