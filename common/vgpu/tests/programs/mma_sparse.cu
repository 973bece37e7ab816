// nvcc: -std=c++17 -arch=compute_80
// mma.sp: products whose left matrix has two zeros among four neighbours (one among two for tf32),
// in all types and shapes except those of 4 bits, and with each choice of the threads that supply
// the positions of non-zeros.
#include "vgpu/tests/check.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct Fragments {
    unsigned a[4], b[4], c[4], e;
};

#define SPARSE4(shape, types, selector)                                                             \
    asm volatile(                                                                                   \
        "mma.sp.sync.aligned." shape ".row.col." types                                              \
        " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, " selector \
        ";"                                                                                         \
        : "+r"(f.c[0]), "+r"(f.c[1]), "+r"(f.c[2]), "+r"(f.c[3])                                    \
        : "r"(f.a[0]), "r"(f.a[1]), "r"(f.a[2]), "r"(f.a[3]), "r"(f.b[0]), "r"(f.b[1]),             \
          "r"(f.b[2]), "r"(f.b[3]), "r"(f.e))
#define SPARSE2(shape, types, selector)                                                            \
    asm volatile("mma.sp.sync.aligned." shape ".row.col." types                                    \
                 " {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3}, %8, " selector ";"      \
                 : "+r"(f.c[0]), "+r"(f.c[1]), "+r"(f.c[2]), "+r"(f.c[3])                          \
                 : "r"(f.a[0]), "r"(f.a[1]), "r"(f.b[0]), "r"(f.b[1]), "r"(f.e))

enum { F16_32, F16_16, BF16_32, TF32_16, TF32_8, S8_64, S8_32, U8_64, KINDS };

template <int KIND, int SELECTOR> __global__ void multiply(Fragments *all)
{
    Fragments f = all[threadIdx.x];
    if (KIND == F16_32 && SELECTOR == 0)
        SPARSE4("m16n8k32", "f32.f16.f16.f32", "0x0");
    if (KIND == F16_32 && SELECTOR == 1)
        SPARSE4("m16n8k32", "f32.f16.f16.f32", "0x1");
    if (KIND == F16_16 && SELECTOR == 0)
        SPARSE2("m16n8k16", "f32.f16.f16.f32", "0x0");
    if (KIND == F16_16 && SELECTOR == 3)
        SPARSE2("m16n8k16", "f32.f16.f16.f32", "0x3");
    if (KIND == BF16_32 && SELECTOR == 1)
        SPARSE4("m16n8k32", "f32.bf16.bf16.f32", "0x1");
    if (KIND == TF32_16 && SELECTOR == 0)
        SPARSE4("m16n8k16", "f32.tf32.tf32.f32", "0x0");
    if (KIND == TF32_16 && SELECTOR == 1)
        SPARSE4("m16n8k16", "f32.tf32.tf32.f32", "0x1");
    if (KIND == TF32_8 && SELECTOR == 2)
        SPARSE2("m16n8k8", "f32.tf32.tf32.f32", "0x2");
    if (KIND == S8_64 && SELECTOR == 0)
        SPARSE4("m16n8k64", "s32.s8.s8.s32", "0x0");
    if (KIND == S8_32 && SELECTOR == 0)
        SPARSE2("m16n8k32", "s32.s8.s8.s32", "0x0");
    if (KIND == S8_32 && SELECTOR == 1)
        SPARSE2("m16n8k32", "s32.s8.s8.s32", "0x1");
    if (KIND == U8_64 && SELECTOR == 0)
        SPARSE4("m16n8k64", "s32.u8.s8.s32", "0x0");
    all[threadIdx.x] = f;
}

static bool ok = true;
static std::vector<unsigned> results;

// The bits of a small number; floats are multiples of 1/4.
static unsigned bits_of(int kind, bool is_a, int v)
{
    if (kind == F16_32 || kind == F16_16)
        return __half_as_ushort(__float2half(v / 4.0f));
    if (kind == BF16_32)
        return __bfloat16_as_ushort(__float2bfloat16(v / 4.0f));
    if (kind == TF32_16 || kind == TF32_8) {
        float f = v / 4.0f;
        unsigned bits;
        memcpy(&bits, &f, sizeof bits);
        return bits;
    }
    return (unsigned)(kind == U8_64 && is_a ? v & 0xff : v & 0xff);
}

template <int KIND, int SELECTOR> static void check(int k)
{
    const bool is_tf32 = KIND == TF32_16 || KIND == TF32_8, is_integer = KIND >= S8_64;
    const int per = is_tf32 ? 1 : is_integer ? 4 : 2; // elements of a register
    const int registers = k / 2 / per / 4 * 2;        // registers of a in each lane
    const int threads =
        registers * per * (is_tf32 ? 4 : 2) * 4 / 32; // threads that have the positions for four
                                                      // lanes
    Random random(KIND * 7 + SELECTOR);
    std::vector<int> a(16 * k), b(k * 8), c(16 * 8);
    std::vector<Fragments> lanes(32);
    memset(lanes.data(), 0, lanes.size() * sizeof(Fragments));
    for (int &v : b)
        v = random.below(31) - 15;
    for (int &v : c)
        v = random.below(2001) - 1000;
    for (auto &lane : lanes)
        lane.e = 0xdeadbeef; // for threads whose positions are not used
    for (auto &lane : lanes)
        for (int t = 0; t < threads; t++)
            lanes[(&lane - lanes.data()) / 4 * 4 + (threads == 4   ? t
                                                    : threads == 2 ? 2 * SELECTOR + t
                                                                   : SELECTOR)]
                .e = 0;
    for (int lane = 0; lane < 32; lane++)
        for (int r = 0; r < registers; r++)
            for (int i = 0; i < per; i++) {
                const int row = lane / 4 + 8 * (r % 2),
                          stored = lane % 4 * per + i + 4 * per * (r / 2);
                const int value = random.below(KIND == U8_64 ? 200 : 31) - (KIND == U8_64 ? 0 : 15);
                lanes[lane].a[r] |= bits_of(KIND, true, value) << 32 / per * i % 32;
                int position, index;
                if (is_tf32) {
                    position = random.below(2);
                    index = position ? 14 : 4;
                    a[row * k + stored * 2 + position] = value;
                } else {
                    // the second non-zero of a pair is after the first
                    static int first;
                    position = stored % 2 ? first + 1 + random.below(3 - first) : random.below(3);
                    first = position;
                    index = position;
                    a[row * k + stored / 2 * 4 + position] = value;
                }
                const int width = is_tf32 ? 4 : 2;
                const int bit = ((r * 4 + lane % 4) * per + i) * width;
                const int thread = threads == 4   ? bit / 32
                                   : threads == 2 ? 2 * SELECTOR + bit / 32
                                                  : SELECTOR;
                lanes[lane / 4 * 4 + thread].e |= (unsigned)index << bit % 32;
            }
    for (int lane = 0; lane < 32; lane++) {
        for (int r = 0; r < registers; r++)
            for (int i = 0; i < per; i++)
                lanes[lane].b[r] |=
                    bits_of(KIND, false, b[(lane % 4 * per + i + 4 * per * r) * 8 + lane / 4])
                    << 32 / per * i % 32;
        for (int e = 0; e < 4; e++) {
            const int v = c[(lane / 4 + 8 * (e / 2)) * 8 + lane % 4 * 2 + e % 2];
            const float f = v / 16.0f;
            memcpy(&lanes[lane].c[e], is_integer ? (const void *)&v : (const void *)&f, 4);
        }
    }
    Device<Fragments> d(lanes);
    multiply<KIND, SELECTOR><<<1, 32>>>(d);
    LAUNCHED();
    lanes = d.host();
    bool right = true;
    for (int lane = 0; lane < 32; lane++)
        for (int e = 0; e < 4; e++) {
            const int row = lane / 4 + 8 * (e / 2), column = lane % 4 * 2 + e % 2;
            int sum = c[row * 8 + column];
            for (int i = 0; i < k; i++)
                sum += a[row * k + i] * b[i * 8 + column];
            const float f = sum / 16.0f;
            right &= memcmp(&lanes[lane].c[e], is_integer ? (const void *)&sum : (const void *)&f,
                            4) == 0;
            results.push_back(lanes[lane].c[e]);
        }
    if (!right)
        printf("kind %d, selector %d: wrong\n", KIND, SELECTOR);
    ok &= right;
}

int main()
{
    check<F16_32, 0>(32);
    check<F16_32, 1>(32);
    check<F16_16, 0>(16);
    check<F16_16, 3>(16);
    check<BF16_32, 1>(32);
    check<TF32_16, 0>(16);
    check<TF32_16, 1>(16);
    check<TF32_8, 2>(8);
    check<S8_64, 0>(64);
    check<S8_32, 0>(32);
    check<S8_32, 1>(32);
    check<U8_64, 0>(64);
    return verdict("mma_sparse", ok, results);
}
