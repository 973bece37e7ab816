// nvcc: -arch=sm_80
// The runtime's facts about a kernel's code, by which libraries choose their kernels: the
// architectures of the PTX that runs, and of the machine code that a driver would compile from it.
#include "vgpu/tests/check.cuh"

__global__ void architecture(int *out)
{
#ifdef __CUDA_ARCH__
    *out = __CUDA_ARCH__;
#endif
}

int main()
{
    Device<int> d(1);
    architecture<<<1, 1>>>(d);
    LAUNCHED();
    cudaFuncAttributes a;
    cudaDeviceProp p;
    CHECK(cudaFuncGetAttributes(&a, architecture));
    CHECK(cudaGetDeviceProperties(&p, 0));
    EXPECT(a.ptxVersion == 80 && d.host()[0] == 10 * a.ptxVersion);
    return verdict("function_versions",
                   a.binaryVersion == (p.major == 8 ? 80 : 10 * p.major + p.minor));
}
