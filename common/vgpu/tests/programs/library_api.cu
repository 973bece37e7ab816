// The runtime's functions for libraries: PTX in memory, its kernels and variables by name.
#include "vgpu/tests/check.cuh"

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 step;\n"
    ".visible .entry add(.param .u64 to) {\n"
    ".reg .b32 %r<4>; .reg .b64 %p;\n"
    "ld.param.u64 %p, [to]; ld.global.u32 %r1, [%p]; ld.global.u32 %r2, [step];\n"
    "add.u32 %r3, %r1, %r2; st.global.u32 [%p], %r3; ret; }\n";

int main()
{
    cudaLibrary_t library;
    CHECK(cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    cudaKernel_t kernel;
    EXPECT(cudaLibraryGetKernel(&kernel, library, "absent") == cudaErrorSymbolNotFound);
    CHECK(cudaLibraryGetKernel(&kernel, library, "add"));
    unsigned count = 0;
    CHECK(cudaLibraryGetKernelCount(&count, library));
    CHECK(cudaLibraryEnumerateKernels(&kernel, 1, library));
    EXPECT(count == 1);
    void *step;
    size_t bytes;
    CHECK(cudaLibraryGetGlobal(&step, &bytes, library, "step"));
    int seven = 7;
    EXPECT(bytes == 4);
    CHECK(cudaMemcpy(step, &seven, 4, cudaMemcpyHostToDevice));
    Device<int> d(std::vector<int>{30});
    int *p = d;
    void *arguments[] = {&p};
    for (int i = 0; i < 2; i++)
        CHECK(cudaLaunchKernel((void *)kernel, 1, 1, arguments, 0, NULL));
    cudaGetLastError(); // the one of the absent kernel
    LAUNCHED();
    std::vector<int> out = d.host();
    CHECK(cudaLibraryUnload(library));
    return verdict("library_api", out[0] == 44, out);
}
