// nvcc: -std=c++17 -arch=compute_90
// Copies boxes of arrays of one to five dimensions to shared memory and back, by tensor maps (TMA):
// elements outside the array, steps, swizzles, reductions.
#include "vgpu/tests/tensor_map.cuh"

struct Place {
    int c[5];
};

__device__ unsigned at(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void wait(uint64_t *barrier, unsigned parity)
{
    asm volatile("{ .reg .pred done;\n"
                 "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra AGAIN; }" ::"r"(at(barrier)),
                 "r"(parity)
                 : "memory");
}

#define LOAD(n, coordinates)                                                                       \
    asm volatile(                                                                                  \
        "cp.async.bulk.tensor." n                                                                  \
        ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" coordinates       \
        "}], [%2];" ::"r"(at(tile)),                                                               \
        "l"(&map), "r"(at(&full)), "r"(p.c[0]), "r"(p.c[1]), "r"(p.c[2]), "r"(p.c[3]), "r"(p.c[4]) \
        : "memory")
#define STORE(n, what, how, coordinates)                                                           \
    asm volatile("cp" what ".async.bulk.tensor." n ".global.shared::cta" how                       \
                 ".tile.bulk_group [%0, {" coordinates "}], [%1];" ::"l"(&map),                    \
                 "r"(at(tile)), "r"(p.c[0]), "r"(p.c[1]), "r"(p.c[2]), "r"(p.c[3]), "r"(p.c[4])    \
                 : "memory")

// Gets the bytes of a box as they are in shared memory.
template <int DIMENSIONS>
__global__ void load(const __grid_constant__ CUtensorMap map, Place p, int bytes, char *out)
{
    extern __shared__ __align__(1024) char tile[];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&full)),
                     "r"(bytes)
                     : "memory");
        if (DIMENSIONS == 1)
            LOAD("1d", "%3");
        if (DIMENSIONS == 2)
            LOAD("2d", "%3, %4");
        if (DIMENSIONS == 3)
            LOAD("3d", "%3, %4, %5");
        if (DIMENSIONS == 4)
            LOAD("4d", "%3, %4, %5, %6");
        if (DIMENSIONS == 5)
            LOAD("5d", "%3, %4, %5, %6, %7");
    }
    __syncthreads();
    wait(&full, 0);
    for (int i = threadIdx.x; i < bytes; i += blockDim.x)
        out[i] = tile[i];
}

// Stores numbers, in the order of shared memory, to a box of the array, or adds them.
template <class T, int DIMENSIONS>
__global__ void store(const __grid_constant__ CUtensorMap map, Place p, int n, bool add)
{
    extern __shared__ __align__(1024) char tile[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        reinterpret_cast<T *>(tile)[i] = (T)(i % 100 + 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        if (DIMENSIONS == 2 && add)
            STORE("2d", ".reduce", ".add", "%2, %3");
        if (DIMENSIONS == 2 && !add)
            STORE("2d", "", "", "%2, %3");
        if (DIMENSIONS == 3)
            STORE("3d", "", "", "%2, %3, %4");
        asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
    }
}

// Loads with a map in global memory, which another kernel or a copy has written.
__global__ void load_by(const CUtensorMap *in_memory, int x, int *out)
{
    const CUtensorMap &map = *in_memory;
    const Place p = {{x}};
    __shared__ __align__(128) int tile[64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(in_memory)
                     : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%0, {%1}];" ::"l"(in_memory),
                     "r"(x)
                     : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(at(&full))
                     : "memory");
        LOAD("1d", "%3");
    }
    __syncthreads();
    wait(&full, 0);
    out[threadIdx.x] = tile[threadIdx.x];
}

struct Array {
    int dimensions;
    cuuint64_t size[5], stride[4];
    cuuint32_t box[5], step[5];
    CUtensorMapSwizzle swizzle;
};

static PFN_cuTensorMapEncodeTiled_v12000 encode;

static CUtensorMap map_of(const Array &a, CUtensorMapDataType type, void *p)
{
    CUtensorMap map;
    const CUresult error = encode(
        &map, type, a.dimensions, p, a.size, a.stride, a.box, a.step, CU_TENSOR_MAP_INTERLEAVE_NONE,
        a.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    EXPECT(error == CUDA_SUCCESS);
    return map;
}

// An array without gaps except after rows, which begin at multiples of 16 bytes.
static Array shape(int dimensions, const int *size, const int *box, int element,
                   CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE)
{
    Array a = {dimensions};
    cuuint64_t bytes = (size[0] * element + 15) / 16 * 16;
    for (int i = 0; i < dimensions; i++) {
        a.size[i] = size[i];
        a.box[i] = box[i];
        a.step[i] = 1;
        if (i) {
            a.stride[i - 1] = bytes;
            bytes *= size[i];
        }
    }
    a.swizzle = swizzle;
    return a;
}

static size_t bytes_of(const Array &a, int element)
{
    return a.dimensions > 1 ? a.stride[a.dimensions - 2] * a.size[a.dimensions - 1]
                            : a.size[0] * element;
}

static unsigned swizzled(unsigned at, CUtensorMapSwizzle s)
{
    return s == CU_TENSOR_MAP_SWIZZLE_128B  ? at ^ (at >> 3 & 0x70)
           : s == CU_TENSOR_MAP_SWIZZLE_64B ? at ^ (at >> 3 & 0x30)
           : s == CU_TENSOR_MAP_SWIZZLE_32B ? at ^ (at >> 3 & 0x10)
                                            : at;
}

// Visits a box's elements: index in the box, and byte offset in the array or -1 if outside.
template <class F> static void each(const Array &a, Place p, int element, F visit)
{
    int count[5], total = 1;
    for (int i = 0; i < 5; i++) {
        count[i] =
            i < a.dimensions ? (a.box[i] + (i ? a.step[i] : 1) - 1) / (i ? a.step[i] : 1) : 1;
        total *= count[i];
    }
    for (int n = 0; n < total; n++) {
        long place = 0;
        for (int i = 0, left = n; i < a.dimensions; left /= count[i++]) {
            const long at = p.c[i] + left % count[i] * (long)(i ? a.step[i] : 1);
            if (at < 0 || at >= (long)a.size[i])
                place = -1;
            else if (place >= 0)
                place += at * (i ? (long)a.stride[i - 1] : element);
        }
        visit(n, place);
    }
}

static bool ok = true;
static std::vector<char> bytes_seen;

template <int DIMENSIONS>
static void check_load(const Array &a, CUtensorMapDataType type, int element, Place p)
{
    std::vector<char> in(bytes_of(a, element));
    for (size_t i = 0; i < in.size(); i++)
        in[i] = (char)(i * i % 251 + 1);
    Device<char> d(in);
    int bytes = 0;
    each(a, p, element, [&](int n, long) { bytes = (n + 1) * element; });
    Device<char> out(bytes);
    std::vector<char> want(bytes);
    each(a, p, element, [&](int n, long place) {
        for (int k = 0; k < element; k++)
            want[swizzled(n * element + k, a.swizzle)] = place < 0 ? 0 : in[place + k];
    });
    CHECK(cudaFuncSetAttribute(load<DIMENSIONS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               100 << 10));
    load<DIMENSIONS><<<1, 64, bytes>>>(map_of(a, type, d.p), p, bytes, out);
    LAUNCHED();
    const std::vector<char> got = out.host();
    if (got != want)
        printf("%d dimensions, elements of %d bytes, swizzle %d: wrong\n", DIMENSIONS, element,
               (int)a.swizzle);
    ok &= got == want;
    bytes_seen.insert(bytes_seen.end(), got.begin(), got.end());
}

template <class T, int DIMENSIONS>
static void check_store(const Array &a, CUtensorMapDataType type, Place p, bool add)
{
    const size_t n = bytes_of(a, sizeof(T)) / sizeof(T);
    std::vector<T> in(n);
    for (size_t i = 0; i < n; i++)
        in[i] = (T)(i % 50);
    Device<T> d(in);
    int count = 0;
    each(a, p, sizeof(T), [&](int i, long) { count = i + 1; });
    std::vector<T> want = in;
    long last = -1;
    each(a, p, sizeof(T), [&](int i, long place) {
        // Past the end of a row, the rest of 16 bytes is also stored.
        if (last >= 0 && place < 0 && i * sizeof(T) % 16)
            place = last + sizeof(T);
        last = place;
        if (place < 0)
            return;
        T &to = want[place / sizeof(T)];
        const int from = swizzled(i * sizeof(T), a.swizzle) / sizeof(T);
        to = (T)(from % 100 + 1 + (add ? (int)to : 0));
    });
    store<T, DIMENSIONS><<<1, 64, count * sizeof(T)>>>(map_of(a, type, d.p), p, count, add);
    LAUNCHED();
    const std::vector<T> got = d.host();
    if (got != want)
        printf("store of %d dimensions, elements of %d bytes: wrong\n", DIMENSIONS, (int)sizeof(T));
    ok &= got == want;
    const char *bytes = reinterpret_cast<const char *>(got.data());
    bytes_seen.insert(bytes_seen.end(), bytes, bytes + n * sizeof(T));
}

int main()
{
    encode = tensor_map_encoder();
    const CUtensorMapDataType bytes = CU_TENSOR_MAP_DATA_TYPE_UINT8,
                              halves = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                              floats = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                              ints = CU_TENSOR_MAP_DATA_TYPE_INT32,
                              doubles = CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    const int s1[] = {1000}, b1[] = {64}, s2[] = {100, 50}, b2[] = {16, 8};
    check_load<1>(shape(1, s1, b1, 4), ints, 4, {{100}});
    check_load<1>(shape(1, s1, b1, 4), floats, 4, {{980}}); // past the end
    check_load<1>(shape(1, s1, b1, 1), bytes, 1, {{-32}});
    for (Place p :
         {Place{{0, 0}}, Place{{36, 11}}, Place{{-4, -5}}, Place{{92, 47}}, Place{{200, 0}}})
        check_load<2>(shape(2, s2, b2, 4), floats, 4, p);
    const int wide[] = {64, 32}, tall[] = {32, 16}, narrow[] = {16, 8}, rows[] = {16, 16},
              s[] = {200, 70};
    check_load<2>(shape(2, s, wide, 2, CU_TENSOR_MAP_SWIZZLE_128B), halves, 2, {{64, 3}});
    check_load<2>(shape(2, s, wide, 2, CU_TENSOR_MAP_SWIZZLE_128B), halves, 2, {{152, 50}});
    check_load<2>(shape(2, s, tall, 4, CU_TENSOR_MAP_SWIZZLE_128B), floats, 4, {{-4, 1}});
    check_load<2>(shape(2, s, tall, 2, CU_TENSOR_MAP_SWIZZLE_64B), halves, 2, {{8, 7}});
    check_load<2>(shape(2, s, rows, 2, CU_TENSOR_MAP_SWIZZLE_32B), halves, 2, {{8, 9}});
    check_load<2>(shape(2, s, narrow, 8, CU_TENSOR_MAP_SWIZZLE_128B), doubles, 8, {{2, 2}});
    const int s3[] = {40, 20, 10}, b3[] = {8, 4, 3}, s4[] = {20, 9, 8, 7}, b4[] = {8, 3, 2, 4},
              s5[] = {12, 6, 5, 4, 3}, b5[] = {4, 2, 3, 2, 2};
    check_load<3>(shape(3, s3, b3, 4), ints, 4, {{36, 18, 8}});
    check_load<4>(shape(4, s4, b4, 2), halves, 2, {{16, -1, 3, 5}});
    check_load<5>(shape(5, s5, b5, 4), floats, 4, {{8, 5, 3, -1, 2}});
    Array steps = shape(3, s3, b3, 4);
    steps.box[1] = 12, steps.step[1] = 3;
    steps.box[2] = 5, steps.step[2] = 2;
    check_load<3>(steps, ints, 4, {{0, 1, 0}});

    check_store<int, 2>(shape(2, s2, b2, 4), ints, {{36, 11}}, false);
    check_store<int, 2>(shape(2, s2, b2, 4), ints, {{92, 45}}, false);
    check_store<float, 2>(shape(2, s2, b2, 4), floats, {{88, 3}}, true);
    check_store<int, 2>(shape(2, s2, tall, 4, CU_TENSOR_MAP_SWIZZLE_128B), ints, {{60, 30}}, true);
    check_store<unsigned char, 3>(shape(3, s3, new int[3]{16, 4, 3}, 1), bytes, {{32, 2, 9}},
                                  false);

    std::vector<int> numbers(1000);
    for (int i = 0; i < 1000; i++)
        numbers[i] = i * 3;
    Device<int> d_numbers(numbers), read(64);
    const CUtensorMap host_map = map_of(shape(1, s1, b1, 4), ints, d_numbers.p);
    CUtensorMap *map;
    CHECK(cudaMalloc(&map, sizeof *map));
    CHECK(cudaMemcpy(map, &host_map, sizeof *map, cudaMemcpyHostToDevice));
    load_by<<<1, 64>>>(map, 72, read);
    LAUNCHED();
    for (int i = 0; i < 64; i++)
        ok &= read.host()[i] == (72 + i) * 3;
    cudaFree(map);

    // Sizes that the driver rejects.
    Device<int> d(1024);
    auto refused = [&](Array a, int offset) {
        CUtensorMap map;
        return encode(&map, ints, a.dimensions, (char *)d.p + offset, a.size, a.stride, a.box,
                      a.step, CU_TENSOR_MAP_INTERLEAVE_NONE, a.swizzle,
                      CU_TENSOR_MAP_L2_PROMOTION_NONE,
                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_ERROR_INVALID_VALUE;
    };
    Array good = shape(2, s2, b2, 4), a = good;
    ok &= !refused(good, 0) && refused(good, 8);
    a.box[0] = 3;
    ok &= refused(a, 0);
    a = good, a.box[1] = 257;
    ok &= refused(a, 0);
    a = good, a.stride[0] = 404;
    ok &= refused(a, 0);
    a = good, a.step[1] = 9;
    ok &= refused(a, 0);
    a = good, a.box[0] = 64, a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    ok &= refused(a, 0);
    return verdict("tensor_maps", ok, bytes_seen);
}
