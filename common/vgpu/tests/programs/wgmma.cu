// nvcc: -std=c++17 -gencode arch=compute_90a,code=compute_90a
// wgmma: products by a warpgroup, of all types, with matrices in registers or in shared memory in
// all layouts.
#include "vgpu/tests/check.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// Macros for lists of operands and registers.
#define NAMES8(t, a, b, c, d, e, f, g, h)                                                          \
    "%" t #a ",%" t #b ",%" t #c ",%" t #d ",%" t #e ",%" t #f ",%" t #g ",%" t #h
#define NAMES_4 "{%0,%1,%2,%3}"
#define NAMES_8 "{" NAMES8("", 0, 1, 2, 3, 4, 5, 6, 7) "}"
#define NAMES_16                                                                                   \
    "{" NAMES8("", 0, 1, 2, 3, 4, 5, 6, 7) "," NAMES8("", 8, 9, 10, 11, 12, 13, 14, 15) "}"
#define NAMES_32                                                                                   \
    "{" NAMES8("", 0, 1, 2, 3, 4, 5, 6,                                                            \
               7) "," NAMES8("", 8, 9, 10, 11, 12, 13, 14,                                         \
                             15) "," NAMES8("", 16, 17, 18, 19, 20, 21, 22,                        \
                                            23) "," NAMES8("", 24, 25, 26, 27, 28, 29, 30, 31) "}"
#define TEN(t) "%" t "0,%" t "1,%" t "2,%" t "3,%" t "4,%" t "5,%" t "6,%" t "7,%" t "8,%" t "9"
#define NAMES_128                                                                                  \
    "{" TEN("") "," TEN("1") "," TEN("2") "," TEN("3") "," TEN("4") "," TEN("5") "," TEN(          \
        "6") "," TEN("7") "," TEN("8") "," TEN("9") "," TEN("10") "," TEN("11") "," NAMES8("",     \
                                                                                           120,    \
                                                                                           121,    \
                                                                                           122,    \
                                                                                           123,    \
                                                                                           124,    \
                                                                                           125,    \
                                                                                           126,    \
                                                                                           127) "}"
#define REG4(c, i)   c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define REG8(c, i)   REG4(c, i), REG4(c, i + 4)
#define REG16(c, i)  REG8(c, i), REG8(c, i + 8)
#define REG32(c, i)  REG16(c, i), REG16(c, i + 16)
#define REG128(c, i) REG32(c, i), REG32(c, i + 32), REG32(c, i + 64), REG32(c, i + 96)
#define F            "+f"
#define R            "+r"

__device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

// A matrix in shared memory: rows of 1, 2, 4 or 8 units of 16 bytes, swizzled if there is more than
// one.
struct Layout {
    int units, element, k; // bytes of an element; elements along K
    bool transposed;       // elements are neighbours along M or N, else along K

    __host__ __device__ int leading() const
    {
        return units == 1 ? 128 : transposed ? stride() * (k / 8) : 16;
    }
    __host__ __device__ int stride() const
    {
        return units > 1 ? 128 * units : 128 * (transposed ? k / 8 : k * element / 16);
    }
    __host__ __device__ int place(int side, int at_k) const
    {
        const int per = 16 / element;
        int at;
        if (units == 1 && !transposed)
            at =
                side % 8 * 16 + side / 8 * stride() + at_k / per * leading() + at_k % per * element;
        else if (units == 1)
            at =
                side % per * element + side / per * stride() + at_k % 8 * 16 + at_k / 8 * leading();
        else if (!transposed)
            at = side % 8 * units * 16 + side / 8 * stride() + at_k * element;
        else
            at = side % (units * per) * element + side / (units * per) * leading() +
                 at_k % 8 * units * 16 + at_k / 8 * stride();
        return at ^ (at >> 7 & (units - 1)) << 4;
    }
    // The distance from one step of 32 bytes of K to the next.
    __host__ __device__ int step() const
    {
        return transposed   ? 32 / element / 8 * (units == 1 ? leading() : stride())
               : units == 1 ? 2 * leading()
                            : 32;
    }
    __device__ unsigned long long descriptor(const void *p, int steps) const
    {
        const unsigned long long mode = units == 1 ? 0 : units == 8 ? 1 : units == 4 ? 2 : 3;
        return (unsigned long long)((shared_address(p) + steps * step()) >> 4) |
               (unsigned long long)(leading() >> 4) << 16 |
               (unsigned long long)(stride() >> 4) << 32 | mode << 62;
    }
};

enum {
    HALF_64,
    HALF_A_REGISTERS,
    HALF_SUMS,
    BFLOAT_256,
    TF32_8,
    S8_16,
    U8_16,
    E4M3_32,
    E5M2_32,
    NEGATED
};

template <int KIND> struct Shape {
    static const int n = KIND == BFLOAT_256                   ? 256
                         : KIND == TF32_8                     ? 8
                         : KIND == S8_16 || KIND == U8_16     ? 16
                         : KIND == E4M3_32 || KIND == E5M2_32 ? 32
                                                              : 64;
    static const int element = KIND == TF32_8 ? 4 : KIND >= S8_16 && KIND <= E5M2_32 ? 1 : 2;
    static const int registers = KIND == HALF_SUMS ? n / 4 : n / 2;
    static const bool is_integer = KIND == S8_16 || KIND == U8_16, sums_halves = KIND == HALF_SUMS;
};

__device__ void fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

template <int KIND, bool TA, bool TB>
__device__ void multiply(float *d, const unsigned *a, unsigned long long da, unsigned long long db,
                         int scale)
{
#define START "{ .reg .pred p; setp.ne.b32 p, "
    if (KIND == HALF_64)
        asm volatile(START "%34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " NAMES_32
                           ", %32, %33, p, 1, 1, %35, %36; }"
                     : REG32(F, 0)
                     : "l"(da), "l"(db), "r"(scale), "n"(TA), "n"(TB));
    if (KIND == NEGATED)
        asm volatile(START "%34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " NAMES_32
                           ", %32, %33, p, -1, 1, %35, %36; }"
                     : REG32(F, 0)
                     : "l"(da), "l"(db), "r"(scale), "n"(TA), "n"(TB));
    if (KIND == HALF_A_REGISTERS)
        asm volatile(START "%37, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " NAMES_32
                           ", {%32, %33, %34, %35}, %36, p, 1, 1, %38; }"
                     : REG32(F, 0)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db), "r"(scale), "n"(TB));
    if (KIND == BFLOAT_256)
        asm volatile(START
                     "%130, 0; wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 " NAMES_128
                     ", %128, %129, p, 1, 1, %131, %132; }"
                     : REG128(F, 0)
                     : "l"(da), "l"(db), "r"(scale), "n"(TA), "n"(TB));
    if (KIND == TF32_8)
        asm volatile(START "%6, 0; wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 " NAMES_4
                           ", %4, %5, p, 1, 1; }"
                     : REG4(F, 0)
                     : "l"(da), "l"(db), "r"(scale));
    if (KIND == E4M3_32)
        asm volatile(START "%18, 0; wgmma.mma_async.sync.aligned.m64n32k32.f32.e4m3.e4m3 " NAMES_16
                           ", %16, %17, p, 1, 1; }"
                     : REG16(F, 0)
                     : "l"(da), "l"(db), "r"(scale));
    if (KIND == E5M2_32)
        asm volatile(START "%18, 0; wgmma.mma_async.sync.aligned.m64n32k32.f32.e5m2.e4m3 " NAMES_16
                           ", %16, %17, p, 1, 1; }"
                     : REG16(F, 0)
                     : "l"(da), "l"(db), "r"(scale));
}

template <int KIND, bool TA, bool TB>
__device__ void multiply(unsigned *d, const unsigned *a, unsigned long long da,
                         unsigned long long db, int scale)
{
    if (KIND == HALF_SUMS)
        asm volatile(START "%18, 0; wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 " NAMES_16
                           ", %16, %17, p, 1, 1, %19, %20; }"
                     : REG16(R, 0)
                     : "l"(da), "l"(db), "r"(scale), "n"(TA), "n"(TB));
    if (KIND == S8_16)
        asm volatile(START "%10, 0; wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8 " NAMES_8
                           ", %8, %9, p; }"
                     : REG8(R, 0)
                     : "l"(da), "l"(db), "r"(scale));
    if (KIND == U8_16)
        asm volatile(START "%10, 0; wgmma.mma_async.sync.aligned.m64n16k32.s32.u8.s8 " NAMES_8
                           ", %8, %9, p; }"
                     : REG8(R, 0)
                     : "l"(da), "l"(db), "r"(scale));
}

// d = a * b, then d += a * b. a: 64 x K, b: N x K, elements in rows; d: the registers of each
// thread.
template <int KIND, bool TA, bool TB, class T>
__global__ void product(const unsigned char *a, const unsigned char *b, Layout la, Layout lb,
                        T *out)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    const int element = Shape<KIND>::element, n = Shape<KIND>::n, k = la.k, t = threadIdx.x;
    unsigned char *sa = memory, *sb = memory + 64 * k * element;
    for (int i = t; i < 64 * k; i += blockDim.x)
        for (int c = 0; c < element; c++)
            sa[la.place(i / k, i % k) + c] = a[i * element + c];
    for (int i = t; i < n * k; i += blockDim.x)
        for (int c = 0; c < element; c++)
            sb[lb.place(i / k, i % k) + c] = b[i * element + c];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    T d[Shape<KIND>::registers];
    for (int i = 0; i < Shape<KIND>::registers; i++)
        d[i] = (T)12345; // must not be used
    fence();
    for (int s = 0; s < k * element / 32; s++) {
        unsigned r[4] = {0};
        if (KIND == HALF_A_REGISTERS)
            for (int i = 0; i < 4; i++) {
                const int row = t / 32 * 16 + t % 32 / 4 + i % 2 * 8,
                          column = s * 16 + t % 4 * 2 + i / 2 * 8;
                r[i] = *(const unsigned *)(a + (row * k + column) * 2);
            }
        multiply<KIND, TA, TB>(d, r, la.descriptor(sa, s), lb.descriptor(sb, s), s > 0);
    }
    asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::
                     : "memory");
    for (int i = 0; i < Shape<KIND>::registers; i++)
        out[t * Shape<KIND>::registers + i] = d[i];
}

static bool ok = true;
static std::vector<unsigned> results;

// Writes a small number in a type; floats are multiples of 1/4.
template <int KIND> static void put(unsigned char *to, int v, bool is_a)
{
    const float f = v / 4.0f;
    if (KIND == TF32_8) {
        memcpy(to, &f, 4);
    } else if (KIND == BFLOAT_256) {
        const __nv_bfloat16 h = __float2bfloat16(f);
        memcpy(to, &h, 2);
    } else if (Shape<KIND>::element == 2) {
        const __half h = __float2half(f);
        memcpy(to, &h, 2);
    } else if (Shape<KIND>::is_integer) {
        *to = (unsigned char)v;
    } else {
        *to = __nv_cvt_float_to_fp8(f, __NV_SATFINITE,
                                    KIND == E5M2_32 && is_a ? __NV_E5M2 : __NV_E4M3);
    }
}

template <int KIND, class T, bool TA = false, bool TB = false>
static void check(int k, int units_a, int units_b)
{
    const int n = Shape<KIND>::n, element = Shape<KIND>::element, count = Shape<KIND>::registers;
    const Layout la = {units_a, element, k, TA}, lb = {units_b, element, k, TB};
    Random random(KIND * 100 + units_a * 10 + units_b);
    std::vector<int> a(64 * k), b(n * k);
    std::vector<unsigned char> a_bytes(a.size() * element), b_bytes(b.size() * element);
    for (size_t i = 0; i < a.size(); i++) {
        a[i] = KIND == U8_16 ? random.below(200) : random.below(9) - 4;
        put<KIND>(&a_bytes[i * element], a[i], true);
    }
    for (size_t i = 0; i < b.size(); i++) {
        b[i] = random.below(9) - 4;
        put<KIND>(&b_bytes[i * element], b[i], false);
    }
    Device<unsigned char> d_a(a_bytes), d_b(b_bytes);
    Device<T> out(128 * count);
    const size_t bytes = (64 + n) * k * element;
    CHECK(cudaFuncSetAttribute(product<KIND, TA, TB, T>,
                               cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    product<KIND, TA, TB><<<1, 128, bytes>>>(d_a, d_b, la, lb, out.p);
    LAUNCHED();
    const std::vector<T> got = out.host();
    bool right = true;
    for (int t = 0; t < 128; t++)
        for (int e = 0; e < n / 2; e++) {
            const int row = t / 32 * 16 + t % 32 / 4 + 8 * (e / 2 % 2),
                      column = e / 4 * 8 + t % 4 * 2 + e % 2;
            int sum = 0;
            for (int i = 0; i < k; i++)
                sum += a[row * k + i] * b[column * k + i];
            if (KIND == NEGATED)
                sum = -sum;
            if (Shape<KIND>::sums_halves)
                right &= (unsigned short)((unsigned)got[t * count + e / 2] >> e % 2 * 16) ==
                         __half_as_ushort(__float2half(sum / 16.0f));
            else
                right &=
                    got[t * count + e] == (Shape<KIND>::is_integer ? (T)sum : (T)(sum / 16.0f));
        }
    if (!right)
        printf("kind %d, units %d and %d, transposed %d and %d: wrong\n", KIND, units_a, units_b,
               TA, TB);
    ok &= right;
    for (T v : got) {
        unsigned bits;
        memcpy(&bits, &v, sizeof bits);
        results.push_back(bits);
    }
}

int main()
{
    check<HALF_64, float>(32, 1, 1);
    check<HALF_64, float>(16, 2, 2);
    check<HALF_64, float>(32, 4, 4);
    check<HALF_64, float>(64, 8, 8);
    check<HALF_64, float>(64, 8, 1);
    check<HALF_64, float, true, false>(32, 1, 4);
    check<HALF_64, float, true, false>(64, 8, 8);
    check<HALF_64, float, false, true>(64, 8, 8);
    check<HALF_64, float, false, true>(32, 4, 1);
    check<HALF_64, float, true, true>(32, 4, 2);
    check<HALF_A_REGISTERS, float>(64, 8, 8);
    check<HALF_A_REGISTERS, float, false, true>(32, 1, 4);
    check<HALF_SUMS, unsigned>(32, 1, 4);
    check<NEGATED, float>(64, 8, 8);
    check<BFLOAT_256, float>(64, 8, 8);
    check<BFLOAT_256, float, true, true>(32, 8, 8);
    check<TF32_8, float>(32, 8, 8);
    check<TF32_8, float>(16, 1, 4);
    check<S8_16, unsigned>(128, 8, 8);
    check<S8_16, unsigned>(64, 1, 4);
    check<U8_16, unsigned>(32, 2, 2);
    check<E4M3_32, float>(128, 8, 8);
    check<E5M2_32, float>(64, 4, 1);
    return verdict("wgmma", ok, results);
}
