// Loops that wait for time to pass: nothing else changes between their rounds.
#include "vgpu/tests/check.cuh"

__device__ unsigned long long nanoseconds()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

__global__ void wait(int *out, unsigned clocks)
{
    const unsigned start = (unsigned)clock();
    while ((unsigned)clock() - start < clocks)
        ;
    const long long start64 = clock64();
    while (clock64() - start64 < clocks)
        ;
    const unsigned long long since = nanoseconds();
    while (nanoseconds() - since < clocks)
        ;
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main()
{
    const int blocks = 3, threads = 64;
    bool ok = true;
    for (int lanes = 1; lanes <= threads; lanes += threads - 1) {
        Device<int> out(blocks * lanes);
        out.zero();
        wait<<<blocks, lanes>>>(out, 10000000);
        LAUNCHED();
        for (int x : out.host())
            ok &= x == 1;
    }
    return verdict("clock_wait", ok);
}
