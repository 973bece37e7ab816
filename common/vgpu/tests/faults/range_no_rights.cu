// A kernel reads mapped memory without rights.
#include "vgpu/tests/range.cuh"

__global__ void use(int *p, int *out)
{
    out[threadIdx.x] = p[threadIdx.x]; // expect: no_access
}

int main()
{
    Device<int> out(32);
    const CUdeviceptr p = half_mapped(CU_MEM_ACCESS_FLAGS_PROT_NONE);
    use<<<1, 32>>>((int *)p, out);
    return done(cudaErrorIllegalAddress);
}
