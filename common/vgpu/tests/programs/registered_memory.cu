// Ordinary host memory that is registered and then used by kernels; memory pools.
#include "vgpu/tests/check.cuh"

__global__ void add(int *p, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += value;
}

int main()
{
    const int n = 5000, blocks = 20;
    // At an odd offset: neither end is on a page boundary.
    std::vector<int> whole(n + 100);
    int *p = whole.data() + 33, *d;
    for (size_t i = 0; i < whole.size(); i++)
        whole[i] = (int)i;
    CHECK(cudaHostRegister(p, n * sizeof(int), cudaHostRegisterMapped));
    EXPECT(cudaHostRegister(p, n * sizeof(int), 0) == cudaErrorHostMemoryAlreadyRegistered);
    cudaGetLastError();
    CHECK(cudaHostGetDevicePointer(&d, p, 0));
    add<<<blocks, 256>>>(d, n, 1000);
    LAUNCHED();
    bool ok =
        p[0] == 1033 && p[n - 1] == n - 1 + 1033 && whole[32] == 32 && whole[n + 33] == n + 33;
    p[5] = -1; // seen by the next kernel
    add<<<blocks, 256>>>(d, n, 1);
    LAUNCHED();
    ok &= p[5] == 0;
    Device<int> copy(n);
    CHECK(cudaMemcpyAsync(copy, p, n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaHostUnregister(p));
    ok &= p[6] == 33 + 6 + 1001 && copy.host()[6] == p[6];
    EXPECT(cudaHostUnregister(p) == cudaErrorHostMemoryNotRegistered);
    cudaGetLastError();

    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t pool;
    CHECK(cudaMemPoolCreate(&pool, &props));
    uint64_t keep = 1 << 20, kept = 0;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    int *q;
    CHECK(cudaMallocFromPoolAsync(&q, n * sizeof(int), pool, s));
    CHECK(cudaMemsetAsync(q, 0, n * sizeof(int), s));
    add<<<blocks, 256, 0, s>>>(q, n, 3);
    std::vector<int> got(n);
    CHECK(cudaMemcpyAsync(got.data(), q, n * sizeof(int), cudaMemcpyDeviceToHost, s));
    CHECK(cudaFreeAsync(q, s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemPoolTrimTo(pool, 0));
    CHECK(cudaMemPoolDestroy(pool));
    ok &= got[0] == 3 && got[n - 1] == 3 && kept == keep;
    return verdict("registered_memory", ok, whole);
}
