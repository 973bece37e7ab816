// A kernel uses a range of addresses that was freed.
#include "vgpu/tests/range.cuh"

__global__ void use(int *p, int *out)
{
    p[threadIdx.x] = 1; // expect: use_after_free
}

int main()
{
    Device<int> out(32);
    const CUdeviceptr p = half_mapped(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    DO(cuMemUnmap, p, UNIT);
    DO(cuMemAddressFree, p, 2 * UNIT);
    use<<<1, 32>>>((int *)p, out);
    return done(cudaErrorIllegalAddress);
}
