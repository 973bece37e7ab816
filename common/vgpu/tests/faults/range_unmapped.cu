// A kernel reads past the mapped part of a reserved range.
#include "vgpu/tests/range.cuh"

__global__ void use(int *p, int *out)
{
    out[threadIdx.x] = p[threadIdx.x]; // expect: no_access
}

int main()
{
    Device<int> out(32);
    const CUdeviceptr p = half_mapped(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    use<<<1, 32>>>((int *)p, out);
    use<<<1, 32>>>((int *)(p + UNIT), out);
    return done(cudaErrorIllegalAddress);
}
