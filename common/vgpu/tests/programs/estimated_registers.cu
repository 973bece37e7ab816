// A kernel that seems to need many registers but needs few, in blocks of 1024 threads. Without
// machine code the virtual GPU can only estimate them; it must not refuse a launch because of an
// estimate.
#include "vgpu/tests/check.cuh"

const int STEPS = 1500;

#define CHAIN(x, y)                                                                                \
    for (int n = 0; n < STEPS; n++) {                                                              \
        x = x * 1664525u + 1013904223u + (unsigned)n;                                              \
        y ^= x >> (n % 13);                                                                        \
    }

__global__ void chain(unsigned *out)
{
    if (blockIdx.x > 1)
        return;
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = x, at = x;
#pragma unroll
    CHAIN(x, y)
    out[at] = x ^ y;
}

int main()
{
    const int threads = 1024;
    Device<unsigned> d(2 * threads);
    int resident;
    cudaFuncAttributes a;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, chain, threads, 0));
    CHECK(cudaFuncGetAttributes(&a, chain));
    EXPECT(resident >= 1 && a.maxThreadsPerBlock == threads);
    chain<<<2, threads>>>(d);
    LAUNCHED();
    // With the registers that it really needs, twice as many blocks as multiprocessors fit.
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    d.zero();
    unsigned *out = d;
    void *arguments[] = {&out};
    const unsigned per = (unsigned)p.maxThreadsPerMultiProcessor / threads;
    CHECK(cudaLaunchCooperativeKernel((const void *)chain,
                                      dim3((unsigned)p.multiProcessorCount * per), dim3(threads),
                                      arguments));
    CHECK(cudaDeviceSynchronize());
    std::vector<unsigned> got = d.host();
    bool ok = true;
    for (unsigned i = 0; i < 2 * threads; i++) {
        unsigned x = i, y = i;
        CHAIN(x, y)
        ok &= got[i] == (x ^ y);
    }
    return verdict("estimated_registers", ok, got);
}
