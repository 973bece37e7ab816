// Times launches, arithmetic, and chains of instructions.
#pragma once

#include "vgpu/tests/clock/measure.cuh"

__global__ void empty()
{
}

// ---- arithmetic: eight independent chains per thread --------------------------------------------

#define ARITHMETIC(NAME, TYPE, INIT, STEP)                                                         \
    __global__ void arith_##NAME(TYPE *to, TYPE a, TYPE b, int n)                                  \
    {                                                                                              \
        TYPE x[8];                                                                                 \
        for (int i = 0; i < 8; i++)                                                                \
            x[i] = INIT;                                                                           \
        for (int k = 0; k < n; k++) {                                                              \
            _Pragma("unroll") for (int i = 0; i < 8; i++) x[i] = STEP(x[i], a, b);                 \
        }                                                                                          \
        TYPE sum = x[0];                                                                           \
        for (int i = 1; i < 8; i++)                                                                \
            sum = sum + x[i];                                                                      \
        if (threadIdx.x + n == 0x7fffffff)                                                         \
            to[0] = sum;                                                                           \
    }

__device__ __forceinline__ float fma32(float x, float a, float b)
{
    return fmaf(x, a, b);
}
__device__ __forceinline__ double fma64(double x, double a, double b)
{
    return fma(x, a, b);
}
__device__ __forceinline__ unsigned mad32(unsigned x, unsigned a, unsigned b)
{
    return x * a + b;
}
// Two multiply-adds of halves in one instruction.
__device__ __forceinline__ unsigned fma16x2(unsigned x, unsigned a, unsigned b)
{
    unsigned y;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(x), "r"(a), "r"(b));
    return y;
}
// Two instructions: alternating additions and xors cannot be merged.
__device__ __forceinline__ unsigned add_xor(unsigned x, unsigned a, unsigned b)
{
    return (x + a) ^ b;
}
__device__ __forceinline__ float exp2_fast(float x, float, float)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
// Two conversions, to the type and back.
__device__ __forceinline__ float convert(float x, float, float)
{
    return (float)(int)x;
}
__device__ __forceinline__ float divide(float x, float a, float)
{
    return a / x;
}
__device__ __forceinline__ unsigned divide_int(unsigned x, unsigned a, unsigned b)
{
    return b / (x | 1) + a;
}
__device__ __forceinline__ float square_root(float x, float a, float)
{
    return sqrtf(x);
}
__device__ __forceinline__ float sine(float x, float, float)
{
    return sinf(x);
}
__device__ __forceinline__ uint64_t add64(uint64_t x, uint64_t a, uint64_t b)
{
    return (x + a) ^ b;
}
__device__ __forceinline__ float shuffle(float x, float, float)
{
    return __shfl_xor_sync(0xffffffff, x, 1);
}

ARITHMETIC(fma, float, threadIdx.x + i, fma32)
ARITHMETIC(fma64, double, threadIdx.x + i, fma64)
ARITHMETIC(fma16, unsigned, threadIdx.x + i, fma16x2)
ARITHMETIC(mad_int, unsigned, threadIdx.x + i, mad32)
ARITHMETIC(add_xor, unsigned, threadIdx.x + i, add_xor)
ARITHMETIC(add_xor64, uint64_t, threadIdx.x + i, add64)
ARITHMETIC(exp2, float, threadIdx.x + i, exp2_fast)
ARITHMETIC(convert, float, threadIdx.x + i + 0.5f, convert)
ARITHMETIC(divide, float, threadIdx.x + i + 1, divide)
ARITHMETIC(sqrt, float, threadIdx.x + i, square_root)
ARITHMETIC(sin, float, threadIdx.x + i, sine)
ARITHMETIC(divide_int, unsigned, threadIdx.x + i, divide_int)
ARITHMETIC(shuffle, float, threadIdx.x + i, shuffle)

// ---- chains: each step waits for the previous step ----------------------------------------------

__global__ void chain_fma(float *to, float a, float b, int n)
{
    float x = threadIdx.x;
#pragma unroll 16
    for (int k = 0; k < n; k++)
        x = fmaf(x, a, b);
    if (n == 0x7fffffff)
        to[0] = x;
}

__global__ void chain_global(const unsigned *next, unsigned *to, int n)
{
    unsigned at = 0;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        at = next[at];
    to[threadIdx.x] = at;
}

__global__ void chain_shared(unsigned *to, int n)
{
    __shared__ unsigned next[64];
    for (unsigned i = threadIdx.x; i < 64; i += blockDim.x)
        next[i] = (i + 1) % 64;
    __syncthreads();
    unsigned at = 0;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        at = next[at];
    to[threadIdx.x] = at;
}

// ---- code that is executed once -------------------------------------------------------------------

template <int COUNT> __global__ void straight(float *to, float a, float b, int n)
{
    float x[8];
    for (int i = 0; i < 8; i++)
        x[i] = threadIdx.x + i;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            x[i % 8] = fmaf(x[i % 8], a, b);
    }
    float sum = x[0];
    for (int i = 1; i < 8; i++)
        sum += x[i];
    if (threadIdx.x + n == 0x7fffffff)
        to[0] = sum;
}

// ---- products of a tile in registers ----------------------------------------------------------------

// The sums of MAPS * PLACES products per step. LOADS: the operands come from shared memory, the
// weights in groups of four floats that are the same in all lanes.
template <bool LOADS, int MAPS, int PLACES>
__global__ void __launch_bounds__(256) tile(float *to, int n)
{
    enum { STEPS = 25, ROW = 256 + PLACES * 128 };
    __shared__ float4 weights[STEPS * MAPS / 4];
    __shared__ float rows[ROW];
    for (int i = threadIdx.x; i < STEPS * MAPS / 4; i += blockDim.x)
        weights[i] = make_float4(i, i, i, i);
    for (int i = threadIdx.x; i < ROW; i += blockDim.x)
        rows[i] = i;
    __syncthreads();
    float sum[MAPS][PLACES] = {}, weight[MAPS], place[PLACES];
    for (int i = 0; i < MAPS; i++)
        weight[i] = rows[threadIdx.x + i];
    for (int i = 0; i < PLACES; i++)
        place[i] = rows[threadIdx.x + MAPS + i];
    for (int k = 0; k < n; k++)
#pragma unroll 5
        for (int step = 0; step < STEPS; step++) {
            if (LOADS) {
#pragma unroll
                for (int i = 0; i < MAPS / 4; i++)
                    *(float4 *)&weight[4 * i] = weights[step * (MAPS / 4) + i];
#pragma unroll
                for (int i = 0; i < PLACES; i++)
                    place[i] = rows[threadIdx.x + i * 128 + step];
            }
#pragma unroll
            for (int i = 0; i < MAPS; i++)
#pragma unroll
                for (int j = 0; j < PLACES; j++)
                    sum[i][j] = fmaf(weight[i], place[j], sum[i][j]);
        }
    float all = 0;
    for (int i = 0; i < MAPS; i++)
        for (int j = 0; j < PLACES; j++)
            all += sum[i][j];
    if (all == 0.123f)
        to[0] = all;
}

// ---- their times --------------------------------------------------------------------------------

static void time_launches()
{
    measure("launch", "empty, 1 block", [] { empty<<<1, 32>>>(); });
    measure("launch", "empty, 10000 blocks", [] { empty<<<10000, 128>>>(); });
    measure("launch", "20 empty kernels", [] {
        for (int i = 0; i < 20; i++)
            empty<<<1, 32>>>();
    });
}

static void time_arithmetic()
{
    const int blocks = 8 * multiprocessors, n = 512 / quick;
    static const char *const chunk = "8 blocks of 256 an SM";
#define TIME(NAME, TYPE, N)                                                                        \
    measure("arith_" #NAME, chunk,                                                                 \
            [=] { arith_##NAME<<<blocks, 256>>>((TYPE *)flush, (TYPE)1, (TYPE)3, N); })
    TIME(fma, float, n);
    TIME(fma16, unsigned, n);
    TIME(mad_int, unsigned, n);
    TIME(add_xor, unsigned, n);
    TIME(add_xor64, uint64_t, n / 2);
    TIME(fma64, double, n / 2);
    TIME(exp2, float, n / 4);
    TIME(convert, float, n / 4);
    TIME(divide, float, n / 8);
    TIME(sqrt, float, n / 8);
    TIME(sin, float, n / 8);
    TIME(divide_int, unsigned, n / 8);
    TIME(shuffle, float, n / 4);
#undef TIME
    for (int warps = 1; warps < 8; warps += 1 + (warps == 3))
        measure("fma_warps", text("%g warps an SM", warps),
                [=] { arith_fma<<<multiprocessors, 32 * warps>>>((float *)flush, 1, 3, n); });
    for (int per_sm = 1; per_sm <= 16; per_sm *= 2)
        measure("fma_warps", text("%g warps an SM", 4 * per_sm),
                [=] { arith_fma<<<per_sm * multiprocessors, 128>>>((float *)flush, 1, 3, n); });
    for (int warps = 4; warps <= 64; warps *= 2)
        measure("chain_warps", text("%g warps an SM", warps), [=] {
            chain_fma<<<warps / 4 * multiprocessors, 128>>>((float *)flush, 1, 3, 4 * n);
        });
    for (int quarters = 4; quarters <= 10; quarters++)
        measure("tail", text("%g waves of blocks", quarters / 4.0), [=] {
            arith_fma<<<multiprocessors * 2 * quarters / 4, 1024>>>((float *)flush, 1, 3, n / 2);
        });
}

static void time_straight()
{
    for (int blocks = 1; blocks <= 8; blocks *= 8)
        for (int times = 1; times <= 16; times *= 4) {
            const std::string variant =
                text("2048 instructions, %g times, ", times) + text("%g warps an SM", blocks);
            measure("straight", variant, [=] {
                straight<2048><<<multiprocessors, 32 * blocks>>>((float *)flush, 1, 3, times);
            });
            measure(
                "straight", variant + ", cold",
                [=] {
                    straight<2048><<<multiprocessors, 32 * blocks>>>((float *)flush, 1, 3, times);
                },
                true);
        }
}

static void time_tiles()
{
    const int n = 16 / (quick < 8 ? quick : 8);
    float *const to = (float *)flush;
    for (int blocks = 1; blocks <= 2; blocks++) {
        const int grid = blocks * multiprocessors;
        const std::string variant = text("%g warps an SM", 7 * blocks);
        measure("tile_loads", "12 x 4, " + variant,
                [=] { tile<true, 12, 4><<<grid, 224>>>(to, n); });
        measure("tile", "12 x 4, " + variant, [=] { tile<false, 12, 4><<<grid, 224>>>(to, n); });
        measure("tile_loads", "8 x 4, " + variant, [=] { tile<true, 8, 4><<<grid, 224>>>(to, n); });
        measure("tile_loads", "4 x 8, " + variant, [=] { tile<true, 4, 8><<<grid, 224>>>(to, n); });
    }
}

static void time_chains()
{
    if (!wanted("chain_"))
        return;
    const int n = 4096 / quick;
    measure("chain_fma", "1 warp", [=] { chain_fma<<<1, 32>>>((float *)flush, 1, 3, n); });
    measure("chain_shared", "1 warp", [=] { chain_shared<<<1, 32>>>((unsigned *)flush, n); });
    const struct {
        const char *name;
        size_t words, step;
        bool cold;
    } chases[] = {{"chain_l1", 2048, 32, false},
                  {"chain_l2", (size_t)1 << 20, 1056, false},
                  {"chain_dram", (size_t)64 << 20, 16416, true}};
    for (const auto &c : chases) {
        std::vector<unsigned> next(c.words);
        for (size_t i = 0; i < c.words; i++)
            next[i] = (unsigned)((i + c.step) % c.words);
        unsigned *d = device<unsigned>(c.words), *to = device<unsigned>(32);
        CHECK(cudaMemcpy(d, next.data(), c.words * 4, cudaMemcpyHostToDevice));
        measure(
            c.name, "1 warp", [=] { chain_global<<<1, 32>>>(d, to, n); }, c.cold);
        CHECK(cudaFree(d));
        CHECK(cudaFree(to));
    }
}
