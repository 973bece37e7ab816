// A kernel reads memory of a new mapping that was never written.
#include "vgpu/tests/range.cuh"

__global__ void use(int *p, int *out)
{
    out[threadIdx.x] = p[threadIdx.x]; // expect: uninitialised
}

int main()
{
    CUmemAllocationProp p = {};
    CUmemAccessDesc rights = {};
    CUmemGenericAllocationHandle memory;
    Device<int> out(32);
    const CUdeviceptr at = half_mapped(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    rights.location.type = p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    rights.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DO(cuMemCreate, &memory, UNIT, &p, 0);
    DO(cuMemMap, at + UNIT, UNIT, 0, memory, 0);
    DO(cuMemSetAccess, at + UNIT, UNIT, &rights, 1);
    use<<<1, 32>>>((int *)at, out);
    use<<<1, 32>>>((int *)(at + UNIT), out);
    return done(cudaSuccess);
}
