// nvcc: -std=c++14 -arch=compute_80
// Conversions of special values: negative zero, NaNs with payloads, infinities, limits of integers,
// ties. The expected results were measured on an H200.
#include "vgpu/tests/check.cuh"

enum { CASES = 12, RESULTS = 16 };

__global__ void convert(uint32_t *results, const float *singles, const double *doubles,
                        const uint16_t *halves)
{
    const float a = singles[threadIdx.x];
    const double b = doubles[threadIdx.x];
    uint32_t *to = results + threadIdx.x * RESULTS;
    float f;
    double d;
    unsigned long long l;
#define SINGLE(NUMBER, TYPES)                                                                      \
    asm("cvt." TYPES " %0, %1;" : "=f"(f) : "f"(a));                                               \
    to[NUMBER] = __float_as_uint(f)
    SINGLE(0, "sat.f32.f32");
    SINGLE(1, "rzi.sat.f32.f32");
    SINGLE(2, "rmi.f32.f32");
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(to[3]) : "f"(a));
    asm("cvt.rpi.u32.f32 %0, %1;" : "=r"(to[4]) : "f"(a));
    asm("cvt.rzi.s32.f64 %0, %1;" : "=r"(to[5]) : "d"(b));
    asm("cvt.rzi.u32.f64 %0, %1;" : "=r"(to[6]) : "d"(b));
    asm("cvt.rzi.s64.f32 %0, %1;" : "=l"(l) : "f"(a));
    to[7] = (uint32_t)(l >> 32);
    to[8] = (uint32_t)l;
    asm("cvt.rzi.u64.f64 %0, %1;" : "=l"(l) : "d"(b));
    to[9] = (uint32_t)(l >> 32);
    to[10] = (uint32_t)l;
    asm("cvt.rni.f64.f64 %0, %1;" : "=d"(d) : "d"(b));
    to[11] = (uint32_t)__double2hiint(d);
    to[12] = (uint32_t)__double2loint(d);
    asm("cvt.rn.f32.f64 %0, %1;" : "=f"(f) : "d"(b));
    to[13] = __float_as_uint(f);
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(halves[threadIdx.x]));
    to[14] = __float_as_uint(f);
    asm("{.reg .b16 x; cvt.rzi.u16.f32 x, %1; cvt.s32.s16 %0, x;}" : "=r"(to[15]) : "f"(a));
}

// Source registers of 64 bits, whose upper halves do not count.
__global__ void widen_low_halves(uint64_t *results, const uint64_t *numbers)
{
    uint64_t *to = results + threadIdx.x * 2;
    asm("cvt.s64.s32 %0, %1;" : "=l"(to[0]) : "l"(numbers[threadIdx.x]));
    asm("cvt.u64.u32 %0, %1;" : "=l"(to[1]) : "l"(numbers[threadIdx.x]));
}

static const uint32_t singles[CASES] = {0x80000000, 0xbe99999a, 0x7fc12345, 0x7f812345,
                                        0x7f800000, 0xff800000, 0x4f000000, 0xcf000001,
                                        0x477fff80, 0x3f000000, 0x3fc00000, 0x00000001};
static const uint64_t doubles[CASES] = {0x8000000000000000, 0xbfd3333333333333, 0x7ff8123456789abc,
                                        0x7ff0000000000001, 0xfff8000000000000, 0x41e0000000000000,
                                        0xc1e0000000200000, 0x43f0000000000000, 0x3fe0000000000000,
                                        0x4004000000000000, 0xbfe8000000000000, 0x41efffffffe00000};
static const uint16_t halves[CASES] = {0xffff, 0x7c01, 0x7e01, 0xfc00, 0x8001, 0x3c00,
                                       0xfd55, 0x0001, 0x7bff, 0,      0x8000, 0x7fff};

static const uint32_t expected[CASES][RESULTS] = {
    {0x00000000, 0x00000000, 0x80000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000,
     0x00000000, 0x00000000, 0x00000000, 0x80000000, 0x00000000, 0x80000000, 0x7fffffff,
     0x00000000},
    {0x00000000, 0x00000000, 0xbf800000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000,
     0x00000000, 0x00000000, 0x00000000, 0x80000000, 0x00000000, 0xbe99999a, 0x7fffffff,
     0x00000000},
    {0x00000000, 0x00000000, 0x7fffffff, 0x00000000, 0x00000000, 0x80000000, 0x80000000, 0x80000000,
     0x00000000, 0x80000000, 0x00000000, 0x7ff81234, 0x56789abc, 0x7fc091a2, 0x7fffffff,
     0x00000000},
    {0x00000000, 0x00000000, 0x7fffffff, 0x00000000, 0x00000000, 0x80000000, 0x80000000, 0x80000000,
     0x00000000, 0x80000000, 0x00000000, 0x7ff80000, 0x00000001, 0x7fc00000, 0xff800000,
     0x00000000},
    {0x3f800000, 0x3f800000, 0x7f800000, 0x7fffffff, 0xffffffff, 0x80000000, 0x80000000, 0x7fffffff,
     0xffffffff, 0x80000000, 0x00000000, 0xfff80000, 0x00000000, 0xffc00000, 0xb3800000,
     0xffffffff},
    {0x00000000, 0x00000000, 0xff800000, 0x80000000, 0x00000000, 0x7fffffff, 0x80000000, 0x80000000,
     0x00000000, 0x00000000, 0x80000000, 0x41e00000, 0x00000000, 0x4f000000, 0x3f800000,
     0x00000000},
    {0x3f800000, 0x3f800000, 0x4f000000, 0x7fffffff, 0x80000000, 0x80000000, 0x00000000, 0x00000000,
     0x80000000, 0x00000000, 0x00000000, 0xc1e00000, 0x00200000, 0xcf000000, 0x7fffffff,
     0xffffffff},
    {0x00000000, 0x00000000, 0xcf000001, 0x80000000, 0x00000000, 0x7fffffff, 0xffffffff, 0xffffffff,
     0x7fffff00, 0xffffffff, 0xffffffff, 0x43f00000, 0x00000000, 0x5f800000, 0x33800000,
     0x00000000},
    {0x3f800000, 0x3f800000, 0x477fff00, 0x00010000, 0x00010000, 0x00000000, 0x00000000, 0x00000000,
     0x0000ffff, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x3f000000, 0x477fe000,
     0xffffffff},
    {0x3f000000, 0x00000000, 0x00000000, 0x00000000, 0x00000001, 0x00000002, 0x00000002, 0x00000000,
     0x00000000, 0x00000000, 0x00000002, 0x40000000, 0x00000000, 0x40200000, 0x00000000,
     0x00000000},
    {0x3f800000, 0x3f800000, 0x3f800000, 0x00000002, 0x00000002, 0x00000000, 0x00000000, 0x00000000,
     0x00000001, 0x00000000, 0x00000000, 0xbff00000, 0x00000000, 0xbf400000, 0x80000000,
     0x00000001},
    {0x00000001, 0x00000000, 0x00000000, 0x00000000, 0x00000001, 0x7fffffff, 0xffffffff, 0x00000000,
     0x00000000, 0x00000000, 0xffffffff, 0x41efffff, 0xffe00000, 0x4f800000, 0x7fffffff,
     0x00000000},
};

static bool low_halves_are_right()
{
    uint64_t *from, *to, got[CASES][2];
    bool ok = true;
    CHECK(cudaMalloc(&from, sizeof doubles));
    CHECK(cudaMalloc(&to, sizeof got));
    CHECK(cudaMemcpy(from, doubles, sizeof doubles, cudaMemcpyHostToDevice));
    widen_low_halves<<<1, CASES>>>(to, from);
    LAUNCHED();
    CHECK(cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < CASES; i++)
        ok = ok && got[i][0] == (uint64_t)(int64_t)(int32_t)doubles[i] &&
             got[i][1] == (uint32_t)doubles[i];
    return ok;
}

int main()
{
    float *a;
    double *b;
    uint16_t *h;
    uint32_t *to, got[CASES][RESULTS];
    CHECK(cudaMalloc(&a, sizeof singles));
    CHECK(cudaMalloc(&b, sizeof doubles));
    CHECK(cudaMalloc(&h, sizeof halves));
    CHECK(cudaMalloc(&to, sizeof got));
    CHECK(cudaMemcpy(a, singles, sizeof singles, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, doubles, sizeof doubles, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(h, halves, sizeof halves, cudaMemcpyHostToDevice));
    convert<<<1, CASES>>>(to, a, b, h);
    LAUNCHED();
    CHECK(cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost));
    std::vector<float> sums(1);
    bool ok = low_halves_are_right();
    for (int i = 0; i < CASES; i++)
        for (int k = 0; k < RESULTS; k++) {
            if (got[i][k] != expected[i][k])
                printf("case %d, result %d: expected %08x, got %08x\n", i, k, expected[i][k],
                       got[i][k]);
            ok = ok && got[i][k] == expected[i][k];
            sums[0] += (float)(got[i][k] % 1000);
        }
    return verdict("conversions", ok, sums);
}
