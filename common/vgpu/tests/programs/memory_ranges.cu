// Virtual memory management: pieces of memory that are mapped next to each other, again and twice;
// their rights; errors as on an H200; memory of another process.
#include "vgpu/tests/driver.cuh"
#include "vgpu/tests/spawn.cuh"

#include <fcntl.h>

const size_t UNIT = 2 << 20;
const int N = UNIT / sizeof(int);

__global__ void add(int *p, int n, int value)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] += value;
}

__global__ void fill(int *p, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] = i;
}

__global__ void copy(int *to, const int *from, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] = from[i];
}

static CUmemAllocationProp properties()
{
    CUmemAllocationProp p = {};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return p;
}

static CUmemAccessDesc access(CUmemAccess_flags flags)
{
    CUmemAccessDesc d = {};
    d.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    d.flags = flags;
    return d;
}

static CUmemGenericAllocationHandle create(size_t bytes)
{
    const CUmemAllocationProp p = properties();
    CUmemGenericAllocationHandle h;
    DO(cuMemCreate, &h, bytes, &p, 0);
    return h;
}

static void give(CUdeviceptr p, size_t bytes, CUmemAccess_flags flags)
{
    const CUmemAccessDesc d = access(flags);
    DO(cuMemSetAccess, p, bytes, &d, 1);
}

// An array over two memories, which grows, is cut, and is seen at a second address.
static std::vector<int> pieces()
{
    CUdeviceptr p, q;
    DO(cuMemAddressReserve, &p, 4 * UNIT, 0, 0, 0);
    DO(cuMemAddressReserve, &q, UNIT, 4 * UNIT, 0, 0);
    EXPECT(q % (4 * UNIT) == 0);
    CUmemGenericAllocationHandle h[2] = {create(UNIT), create(2 * UNIT)};
    DO(cuMemMap, p, UNIT, 0, h[0], 0);
    DO(cuMemMap, p + UNIT, 2 * UNIT, 0, h[1], 0);
    give(p, 3 * UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    fill<<<100, 256>>>((int *)p, 3 * N);
    LAUNCHED();
    std::vector<int> got(3 * N);
    DO(cuMemcpyDtoH, got.data(), p, 3 * UNIT); // one copy over both
    for (int i = 0; i < 3 * N; i++)
        EXPECT(got[i] == i);
    DO(cuMemMap, q, UNIT, 0, h[0], 0);
    give(q, UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    add<<<10, 256>>>((int *)q, N, 1000);
    DO(cuMemRelease, h[0]); // the mappings keep the memory
    DO(cuMemUnmap, p + UNIT, 2 * UNIT);
    DO(cuMemMap, p + 2 * UNIT, 2 * UNIT, 0, h[1], 0); // leaves a gap
    give(p + 2 * UNIT, 2 * UNIT, CU_MEM_ACCESS_FLAGS_PROT_READ);
    Device<int> out(4 * N);
    copy<<<10, 256>>>(out, (int *)p, N);
    copy<<<10, 256>>>(out + N, (int *)(p + 2 * UNIT), 2 * N); // may be read
    LAUNCHED();
    got = out.host();
    for (int i = 0; i < 3 * N; i++)
        EXPECT(got[i] == (i < N ? i + 1000 : i));
    cudaPointerAttributes a;
    CHECK(cudaPointerGetAttributes(&a, (void *)(p + 2 * UNIT + 4)));
    EXPECT(a.type == cudaMemoryTypeDevice);
    DO(cuMemUnmap, p, 4 * UNIT);
    DO(cuMemUnmap, q, UNIT);
    DO(cuMemAddressFree, p, 4 * UNIT);
    DO(cuMemAddressFree, q, UNIT);
    DO(cuMemRelease, h[1]);
    got.resize(3 * N);
    return got;
}

// Not with RESULT(): a name that passes through two macros becomes the name of its version.
#define REFUSES(error, name, ...)                                                                  \
    EXPECT(((decltype(&name))driver_function(#name))(__VA_ARGS__) == (error))

static void errors()
{
    const CUmemAllocationProp p = properties();
    CUmemAllocationProp got = {};
    const CUmemAccessDesc reads = access(CU_MEM_ACCESS_FLAGS_PROT_READ);
    CUdeviceptr q, other;
    CUmemGenericAllocationHandle h, same;
    unsigned long long flags;
    size_t unit;
    int word;
    DO(cuMemGetAllocationGranularity, &unit, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    EXPECT(unit == UNIT);
    REFUSES(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve, &other, 99, 0, 0, 0);
    REFUSES(CUDA_ERROR_INVALID_VALUE, cuMemCreate, &h, 99, &p, 0);
    DO(cuMemAddressReserve, &q, 4 * UNIT, 0, 0, 0);
    h = create(UNIT);
    REFUSES(CUDA_ERROR_INVALID_VALUE, cuMemMap, q + 5, UNIT, 0, h, 0);
    REFUSES(CUDA_ERROR_NOT_SUPPORTED, cuMemMap, q, 2 * UNIT, 0, h, 0);
    DO(cuMemMap, q + UNIT, UNIT, 0, h, 0);
    REFUSES(CUDA_ERROR_INVALID_VALUE, cuMemMap, q + UNIT, UNIT, 0, h, 0);
    DO(cuMemGetAccess, &flags, &p.location, q + UNIT);
    EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
    REFUSES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD, q + UNIT, &word, sizeof word);
    REFUSES(CUDA_ERROR_INVALID_VALUE, cuMemsetD8, q + UNIT, 1, 4);
    REFUSES(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess, q, UNIT, &reads, 1);
    DO(cuMemSetAccess, q + UNIT, UNIT, &reads, 1);
    DO(cuMemGetAccess, &flags, &p.location, q + UNIT);
    EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READ);
    REFUSES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD, q + UNIT, &word, sizeof word);
    DO(cuMemcpyDtoH, &word, q + UNIT, sizeof word);
    DO(cuMemRetainAllocationHandle, &same, (void *)(q + UNIT + 7));
    EXPECT(same == h);
    DO(cuMemGetAllocationPropertiesFromHandle, &got, h);
    EXPECT(got.type == p.type && got.location.type == p.location.type);
    DO(cuMemRelease, same);
    DO(cuMemRelease, h);
    REFUSES(CUDA_ERROR_INVALID_VALUE, cuMemRelease, h);
    REFUSES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree, q, 4 * UNIT);
    DO(cuMemUnmap, q, UNIT);
    REFUSES(CUDA_ERROR_INVALID_VALUE, cuMemUnmap, q + UNIT, UNIT / 2);
    DO(cuMemUnmap, q, 4 * UNIT);
    DO(cuMemUnmap, q + UNIT, UNIT);
    REFUSES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree, q, UNIT);
    DO(cuMemAddressFree, q, 4 * UNIT);
    REFUSES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree, q, 4 * UNIT);
}

// Maps the memory of a descriptor.
static CUdeviceptr open_memory(int descriptor)
{
    CUmemGenericAllocationHandle h;
    CUdeviceptr p;
    DO(cuMemImportFromShareableHandle, &h, (void *)(intptr_t)descriptor,
       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    DO(cuMemAddressReserve, &p, UNIT, 0, 0, 0);
    DO(cuMemMap, p, UNIT, 0, h, 0);
    DO(cuMemRelease, h);
    give(p, UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    return p;
}

static void close_memory(CUdeviceptr p)
{
    DO(cuMemUnmap, p, UNIT);
    DO(cuMemAddressFree, p, UNIT);
}

static int other(int descriptor)
{
    CHECK(cudaFree(0));
    const CUdeviceptr p = open_memory(descriptor);
    add<<<10, 256>>>((int *)p, N, 5);
    LAUNCHED();
    close_memory(p);
    return 0;
}

static void another_process()
{
    CUmemGenericAllocationHandle h = create(UNIT);
    int descriptor = -1, file;
    DO(cuMemExportToShareableHandle, &descriptor, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    const CUdeviceptr p = open_memory(descriptor);
    fill<<<10, 256>>>((int *)p, N);
    LAUNCHED();
    EXPECT(fcntl(descriptor, F_SETFD, 0) == 0); // the other process inherits it
    EXPECT(run_again(std::to_string(descriptor).c_str(), NULL, 0) == 0);
    std::vector<int> got(N);
    DO(cuMemcpyDtoH, got.data(), p, UNIT);
    for (int i = 0; i < N; i++)
        EXPECT(got[i] == i + 5);
    EXPECT((file = open("/dev/null", O_RDONLY)) >= 0);
    REFUSES(CUDA_ERROR_UNKNOWN, cuMemImportFromShareableHandle, &h, (void *)(intptr_t)file,
            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    close_memory(p);
    DO(cuMemRelease, h);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return other(atoi(argv[1]));
    CHECK(cudaFree(0));
    errors();
    another_process();
    return verdict("memory_ranges", true, pieces());
}
