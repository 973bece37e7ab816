// Kernels in streams that nothing orders, and that do not disturb each other although they use the same
// arrays: none is a race.
#include "vgpu/tests/check.cuh"

__global__ void count(const int *x, int *bins, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[x[i] & 15], 1);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        bins[16 + (x[0] & 1)] = 7;
}

__global__ void twice(const int *from, int *to, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = 2 * from[i];
}

int main()
{
    const int n = 2048;
    std::vector<int> h(n);
    for (int i = 0; i < n; i++)
        h[i] = i * 3 + 1;
    Device<int> x(h), bins(18), parts(n), out(n);
    bins.zero();
    parts.zero();
    cudaStream_t s, t;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
    count<<<4, 256, 0, s>>>(x, bins, n / 2); // atomics on the same words
    count<<<4, 256, 0, t>>>(x + n / 2, bins, n / 2);
    twice<<<4, 256, 0, s>>>(x, parts, n / 2); // two halves
    twice<<<4, 256, 0, t>>>(x + n / 2, parts + n / 2, n / 2);
    CHECK(cudaDeviceSynchronize());
    twice<<<8, 256, 0, s>>>(x, out, n); // both read the input, and one replaces the other half
    twice<<<4, 256, 0, t>>>(x + n / 2, parts, n / 2);
    cudaEvent_t done;
    CHECK(cudaEventCreate(&done));
    CHECK(cudaEventRecord(done, s));
    CHECK(cudaStreamWaitEvent(t, done, 0));
    twice<<<8, 256, 0, t>>>(out, x, n); // replaces what the first stream has read
    int *pool;
    for (cudaStream_t each : {s, t}) { // the second may get the memory of the first
        CHECK(cudaMallocAsync(&pool, n * sizeof(int), each));
        twice<<<8, 256, 0, each>>>(each == s ? (int *)out : (int *)x, pool, n);
        CHECK(cudaFreeAsync(pool, each));
    }
    CHECK(cudaDeviceSynchronize());
    bool ok = true;
    const std::vector<int> sums = bins.host(), left = parts.host(), all = x.host();
    for (int i = 0; i < 16; i++)
        ok &= sums[i] == n / 16;
    for (int i = 0; i < n; i++)
        ok &= left[i] == 2 * h[i < n / 2 ? i + n / 2 : i] && all[i] == 4 * h[i];
    return verdict("streams_apart", ok, all);
}
