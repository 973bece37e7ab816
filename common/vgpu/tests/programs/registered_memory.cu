// Ordinary host memory that is registered and then used by kernels; memory pools.
#include <sys/mman.h>

#include "vgpu/tests/check.cuh"

__global__ void add(int *p, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += value;
}

// Whether memory keeps its contents when it is registered and unregistered, even if it shares its
// first and last pages with other allocations.
static bool keeps_contents(size_t bytes)
{
    std::vector<unsigned char *> piece;
    const size_t sizes[] = {24, bytes, 24, 1000, bytes, 200};
    for (size_t size : sizes) {
        unsigned char *p = (unsigned char *)malloc(size);
        for (size_t i = 0; i < size; i++)
            p[i] = (unsigned char)(i * 7 + size);
        piece.push_back(p);
    }
    free(piece.back()); // the heap's end, after the second large piece, is free
    CHECK(cudaHostRegister(piece[1], bytes, 0));
    CHECK(cudaHostRegister(piece[4] + 4096, bytes - 4096, 0));
    CHECK(cudaHostUnregister(piece[4] + 4096));
    CHECK(cudaHostUnregister(piece[1]));
    bool kept = true;
    for (size_t n = 0; n + 1 < piece.size(); n++) {
        for (size_t i = 0; i < sizes[n]; i++)
            kept &= piece[n][i] == (unsigned char)(i * 7 + sizes[n]);
        free(piece[n]);
    }
    return kept;
}

// The program unmaps registered memory, the source of a copy, and never unregisters it.
static void unmap_source()
{
    const size_t bytes = 1 << 20;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(p != MAP_FAILED);
    memset(p, 1, bytes);
    Device<char> copy(bytes);
    CHECK(cudaHostRegister(p, bytes, 0));
    CHECK(cudaMemcpyAsync(copy, p, bytes, cudaMemcpyHostToDevice));
    munmap(p, bytes);
    CHECK(cudaDeviceSynchronize());
    EXPECT(copy.host()[bytes - 1] == 1);
}

int main()
{
    bool kept = true;
    unmap_source();
    for (size_t bytes = 5000; bytes < 120000; bytes += 3333)
        kept &= keeps_contents(bytes);
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
    p[5] = -1; // the next kernel must see it
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
    uint64_t keep = 1 << 20, left = 0;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &left));
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
    ok &= got[0] == 3 && got[n - 1] == 3 && left == keep && kept;
    return verdict("registered_memory", ok, whole);
}
