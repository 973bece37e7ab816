// Histograms with atomics in shared memory, summed in global memory.
#include "vgpu/tests/check.cuh"

const int BINS = 64;

__global__ void histogram(const unsigned char *in, int n, unsigned *bins)
{
    __shared__ unsigned local[BINS];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[in[i] % BINS], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        atomicAdd(&bins[i], local[i]);
}

int main()
{
    const int n = 30011;
    Random random(6);
    std::vector<unsigned char> in(n);
    std::vector<unsigned> want(BINS);
    for (unsigned char &v : in)
        v = (unsigned char)(random.bits() >> 24), want[v % BINS]++;
    Device<unsigned char> din(in);
    Device<unsigned> bins(BINS);
    bins.zero();
    histogram<<<7, 128>>>(din, n, bins);
    LAUNCHED();
    std::vector<unsigned> got = bins.host();
    return verdict("histogram", got == want, got);
}
