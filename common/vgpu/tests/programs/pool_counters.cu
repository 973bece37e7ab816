// The counters of memory pools, their release threshold, and access to a pool.
#include "vgpu/tests/check.cuh"

static uint64_t counter(cudaMemPool_t pool, cudaMemPoolAttr which)
{
    uint64_t value = 0;
    CHECK(cudaMemPoolGetAttribute(pool, which, &value));
    return value;
}

int main()
{
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t pool;
    CHECK(cudaMemPoolCreate(&pool, &props));
    uint64_t keep = UINT64_MAX, zero = 0;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    int reuse = 0;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
    reuse = 1;
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
    EXPECT(reuse == 0);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    void *a, *b;
    CHECK(cudaMallocFromPoolAsync(&a, 5000, pool, stream));
    CHECK(cudaMallocFromPoolAsync(&b, 100000, pool, stream));
    uint64_t used = counter(pool, cudaMemPoolAttrUsedMemCurrent);
    EXPECT(used >= 105000 && used < 110000);
    CHECK(cudaFreeAsync(a, stream));
    CHECK(cudaFreeAsync(b, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(counter(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
    EXPECT(counter(pool, cudaMemPoolAttrUsedMemHigh) == used);
    EXPECT(counter(pool, cudaMemPoolAttrReservedMemCurrent) >= used);
    CHECK(cudaMemPoolTrimTo(pool, 0));
    EXPECT(counter(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
    EXPECT(counter(pool, cudaMemPoolAttrUsedMemHigh) == 0);
    cudaMemAccessFlags flags;
    CHECK(cudaMemPoolGetAccess(&flags, pool, &props.location));
    EXPECT(flags == cudaMemAccessFlagsProtReadWrite);
    CHECK(cudaDeviceSetMemPool(0, pool));
    CHECK(cudaMallocAsync(&a, 1000, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(counter(pool, cudaMemPoolAttrUsedMemCurrent) >= 1000);
    CHECK(cudaFreeAsync(a, stream));
    props.maxSize = 32 << 20;
    cudaMemPool_t small;
    CHECK(cudaMemPoolCreate(&small, &props));
    CHECK(cudaMallocFromPoolAsync(&a, 20 << 20, small, stream));
    EXPECT(cudaMallocFromPoolAsync(&b, 20 << 20, small, stream) == cudaErrorMemoryAllocation);
    cudaGetLastError();
    CHECK(cudaFreeAsync(a, stream));
    CHECK(cudaMallocFromPoolAsync(&b, 20 << 20, small, stream));
    CHECK(cudaFreeAsync(b, stream));
    return verdict("pool_counters", true, std::vector<int>{reuse});
}
