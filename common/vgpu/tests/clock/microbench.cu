// nvcc: -gencode arch=compute_75,code=compute_75 -gencode arch=compute_75,code=sm_90
// Small kernels, each limited by one part of a GPU, with which the clock's model is fitted and
// tested. The program runs on real and virtual GPUs.
#include "vgpu/tests/clock/measure.cuh"

// ---- arithmetic: eight independent chains per thread
// -----------------------------------------------

__global__ void empty()
{
}

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

// ---- chains: each step waits for the previous step
// --------------------------------------------------

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

// ---- global memory
// -------------------------------------------------------------------------------

__global__ void copy_float(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

__global__ void copy_float4(float4 *to, const float4 *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

__global__ void read_float4(float *to, const float4 *from, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 v = from[i];
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 0.123f)
        to[0] = sum;
}

__global__ void fill_float(float *to, float value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = value;
}

__global__ void copy_strided(float *to, const float *from, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[(size_t)i * stride];
}

// Neighbouring lanes `stride` floats apart, inside 32 KB that all blocks share: L1 only.
__global__ void load_l1(float *to, const float *from, int n, int stride)
{
    float sum = 0;
    unsigned at = (threadIdx.x & 31) * stride + (threadIdx.x >> 5) * 64;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        sum += from[(at + k * 8) & 8191];
    if (sum == 0.123f)
        to[0] = sum;
}

// Bypasses L1, with 16 KB per block: L2 only.
__global__ void load_l2(float *to, const float *from, int n, int stride)
{
    float sum = 0;
    unsigned at = (threadIdx.x & 31) * stride + (threadIdx.x >> 5) * 64;
    from += (size_t)blockIdx.x * 4096;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        sum += __ldcg(&from[(at + k * 8) & 4095]);
    if (sum == 0.123f)
        to[0] = sum;
}

// `width` lanes read a row, as in tiles of an image; rows are 70 floats apart.
__global__ void load_rows(float *to, const float *from, int n, int width)
{
    float sum = 0;
    unsigned at = threadIdx.x % width + threadIdx.x / width * 70;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        sum += from[(at + k) & 8191];
    if (sum == 0.123f)
        to[0] = sum;
}

__global__ void load_same(float *to, const float *from, int n)
{
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        sum += from[(k * 3) & 1023];
    if (sum == 0.123f)
        to[0] = sum;
}

__constant__ float table[4096];

// Lanes read `ways` different addresses of constant memory.
__global__ void load_constant(float *to, int n, int ways)
{
    float sum = 0;
    unsigned at = (threadIdx.x % ways) * 32;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        sum += table[(at + k) & 1023];
    if (sum == 0.123f)
        to[0] = sum;
}

// One multiply-add per step, with a constant as an operand.
__global__ void fma_constant(float *to, int n)
{
    float x[4] = {1.0f * threadIdx.x, 2.0f, 3.0f, 4.0f};
    for (int k = 0; k < n; k++) {
#pragma unroll
        for (int i = 0; i < 32; i++)
            x[i & 3] = fmaf(x[i & 3], table[i], table[i + 32]);
    }
    if (x[0] + x[1] + x[2] + x[3] == 0.123f)
        to[0] = x[0];
}

// ---- shared memory, atomics, barriers
// ------------------------------------------------------------

__global__ void load_shared(float *to, int n, int stride)
{
    __shared__ float s[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)
        s[i] = i;
    __syncthreads();
    float sum = 0;
    unsigned at = (threadIdx.x & 31) * stride;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        sum += s[(at + k * 4) & 2047];
    if (sum == 0.123f)
        to[0] = sum;
}

__global__ void load_shared4(float *to, int n)
{
    __shared__ float4 s[512];
    for (int i = threadIdx.x; i < 512; i += blockDim.x)
        s[i] = make_float4(i, i, i, i);
    __syncthreads();
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < n; k++) {
        float4 v = s[(threadIdx.x + k) & 511];
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 0.123f)
        to[0] = sum;
}

__global__ void store_shared(float *to, int n)
{
    __shared__ float s[1024];
#pragma unroll 4
    for (int k = 0; k < n; k++)
        *(volatile float *)&s[threadIdx.x + (k & 3) * 256] = k;
    __syncthreads();
    if (s[threadIdx.x] == 0.123f)
        to[0] = 1;
}

// Adds to 1: an element per thread; 2: one per warp; 3: one per block; 4: one for the whole grid.
__global__ void atomic_float(float *to, int n, int sharing)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int at = sharing == 1 ? i : sharing == 2 ? i / 32 * 8 : sharing == 3 ? (int)blockIdx.x * 8 : 0;
    for (int k = 0; k < n; k++)
        atomicAdd(&to[at], 1.0f);
}

__global__ void atomic_int(unsigned *to, int n, int sharing)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int at = sharing == 1 ? i : sharing == 2 ? i / 32 * 8 : sharing == 3 ? (int)blockIdx.x * 8 : 0;
    for (int k = 0; k < n; k++)
        atomicAdd(&to[at], 1u);
}

__global__ void atomic_shared(float *to, int n, int ways)
{
    __shared__ float s[1024];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < n; k++)
        atomicAdd(&s[threadIdx.x / ways], 1.0f);
    __syncthreads();
    if (s[threadIdx.x] == 0.123f)
        to[0] = 1;
}

__global__ void barriers(int *to, int n)
{
    for (int k = 0; k < n; k++)
        __syncthreads();
    if (n == 0x7fffffff)
        to[0] = n;
}

// Every second lane takes the other branch.
__global__ void diverge(float *to, float a, int n)
{
    float x = threadIdx.x, y = 1;
    for (int k = 0; k < n; k++) {
        if ((threadIdx.x + k) & 1) {
#pragma unroll
            for (int i = 0; i < 8; i++)
                x = x * a + sqrtf(y);
        } else {
#pragma unroll
            for (int i = 0; i < 8; i++)
                y = y * a + 2;
        }
    }
    if (x + y == 0.123f)
        to[0] = x;
}

// ---- whole kernels
// -------------------------------------------------------------------------------

__global__ void transpose_plain(float *to, const float *from, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        to[(size_t)x * n + y + i] = from[(size_t)(y + i) * n + x];
}

template <int PAD> __global__ void transpose_shared(float *to, const float *from, int n)
{
    __shared__ float tile[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        tile[threadIdx.y + i][threadIdx.x] = from[(size_t)(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        to[(size_t)(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}

__global__ void matmul_plain(float *c, const float *a, const float *b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

template <int T> __global__ void matmul_tiled(float *c, const float *a, const float *b, int n)
{
    __shared__ float s_a[T][T], s_b[T][T];
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    float sum = 0;
    for (int t = 0; t < n; t += T) {
        s_a[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
        s_b[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < T; k++)
            sum += s_a[threadIdx.y][k] * s_b[k][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

// 64 x 64 outputs per block of 16 x 16 threads, 4 x 4 each.
__global__ void matmul_registers(float *c, const float *a, const float *b, int n)
{
    __shared__ float s_a[16][64], s_b[16][64];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    const int x0 = blockIdx.x * 64, y0 = blockIdx.y * 64;
    float r[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 16) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            s_a[t % 16][t / 16 + 16 * i] = a[(y0 + t / 16 + 16 * i) * n + k0 + t % 16];
            s_b[t / 64 + 4 * i][t % 64] = b[(k0 + t / 64 + 4 * i) * n + x0 + t % 64];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++)
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    r[i][j] += s_a[k][ty * 4 + i] * s_b[k][tx * 4 + j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(y0 + ty * 4 + i) * n + x0 + tx * 4 + j] = r[i][j];
}

__device__ float fmas(float x, int n)
{
    float v[8];
    for (int i = 0; i < 8; i++)
        v[i] = x + (float)i;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 8; i++)
            v[i] = fmaf(v[i], v[i], 3);
    for (int i = 1; i < 8; i++)
        v[0] += v[i];
    return v[0];
}

// The blocks whose number is a multiple of step do all the work, with an atomic operation per 16
// rounds: none; a sum; a histogram; or one whose result could end the block, but does not. Or every
// block executes one operation of the last kind before the idle blocks exit.
enum { NO_ATOMIC, ADDS, COUNTS, ASKS, ASKS_ONCE };
template <int HOW> __global__ void uneven(float *to, int step, int n)
{
    float x = 0;
    if (HOW == ASKS_ONCE && atomicAdd((int *)to + blockIdx.x * blockDim.x + threadIdx.x, 0) == -1)
        return;
    if (blockIdx.x % step)
        return;
    for (int k = 0; k < n * step / 16; k++) {
        x = fmas(x, 16);
        if (HOW == ADDS)
            atomicAdd(&to[blockIdx.x * blockDim.x + threadIdx.x], x);
        if (HOW == COUNTS)
            atomicAdd((int *)to + 256 * (blockIdx.x % 64) + (__float_as_int(x) + threadIdx.x) % 256,
                      1);
        if (HOW == ASKS && atomicAdd((int *)to + blockIdx.x * blockDim.x + threadIdx.x, 0) == -1)
            return;
    }
    if (threadIdx.x + n == 0x7fffffff)
        to[0] = x;
}

// The work in tiles that blocks take from a queue, which is not cleared between launches.
__global__ void uneven_queue(float *to, unsigned *next, int step, unsigned tiles, int n)
{
    __shared__ unsigned s_tile;
    for (;;) {
        if (threadIdx.x == 0)
            s_tile = atomicAdd(next, 1) % (tiles + gridDim.x);
        __syncthreads();
        const unsigned tile = s_tile;
        __syncthreads();
        if (tile >= tiles)
            return;
        const float x = tile % step ? 0 : fmas(0, n * step);
        if (threadIdx.x + n == 0x7fffffff)
            to[0] = x;
    }
}

// ---- the table
// -----------------------------------------------------------------------------------

static std::string text(const char *format, double value)
{
    char to[64];
    snprintf(to, sizeof to, format, value);
    return to;
}

template <class T> static T *device(size_t n)
{
    T *p;
    CHECK(cudaMalloc(&p, n * sizeof(T)));
    CHECK(cudaMemset(p, 0, n * sizeof(T)));
    return p;
}

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

static void time_streams()
{
    if (!wanted("copy") && !wanted("fill") && !wanted("read"))
        return;
    const size_t most = ((size_t)64 << 20) / quick;
    float *a = device<float>(most), *b = device<float>(most);
    for (size_t n = 1 << 16; n <= most; n *= 4)
        for (int cold = 0; cold < 2; cold++) {
            std::string size = text("%g KB", n * 4 / 1024.0) + (cold ? ", cold" : "");
            int grid = (int)(n / 256);
            measure(
                "copy", size, [=] { copy_float<<<grid, 256>>>(a, b, (int)n); }, cold);
            measure(
                "copy4", size,
                [=] { copy_float4<<<grid / 4, 256>>>((float4 *)a, (float4 *)b, (int)n / 4); },
                cold);
            measure(
                "fill", size, [=] { fill_float<<<grid, 256>>>(a, 1, (int)n); }, cold);
            measure(
                "read", size,
                [=] { read_float4<<<8 * multiprocessors, 256>>>(a, (float4 *)b, (int)n / 4); },
                cold);
        }
    for (int warps = 4; warps <= 64; warps *= 4)
        measure(
            "read_warps", text("%g warps an SM", warps),
            [=] {
                read_float4<<<warps / 4 * multiprocessors, 128>>>(a, (float4 *)b, (int)most / 16);
            },
            true);
    for (int stride = 1; stride <= 32; stride *= 2) {
        int n = (int)(most / 32);
        measure(
            "copy_strided", text("stride %g", stride),
            [=] { copy_strided<<<n / 256, 256>>>(a, b, n, stride); }, true);
    }
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
}

static void time_loads()
{
    if (!wanted("load_") && !wanted("fma_constant") && !wanted("store_"))
        return;
    const int blocks = 8 * multiprocessors, n = 256 / quick;
    float *a = device<float>((size_t)blocks * 4096), *to = device<float>(1);
    for (int stride = 1; stride <= 32; stride *= 2)
        measure("load_l1", text("stride %g", stride),
                [=] { load_l1<<<blocks, 256>>>(to, a, n, stride); });
    for (int stride = 1; stride <= 32; stride *= 2)
        measure("load_l2", text("stride %g", stride),
                [=] { load_l2<<<blocks, 256>>>(to, a, n / 2, stride); });
    for (int width = 4; width <= 32; width *= 2)
        measure("load_rows", text("%g lanes a row", width),
                [=] { load_rows<<<blocks, 256>>>(to, a, n, width); });
    measure("load_same", "one address a warp", [=] { load_same<<<blocks, 256>>>(to, a, n); });
    for (int ways = 1; ways <= 32; ways *= 4)
        measure("load_constant", text("%g addresses a warp", ways),
                [=] { load_constant<<<blocks, 256>>>(to, n / 4, ways); });
    measure("load_constant", "32 addresses a warp",
            [=] { load_constant<<<blocks, 256>>>(to, n / 4, 32); });
    measure("fma_constant", "operands", [=] { fma_constant<<<blocks, 256>>>(to, n / 4); });
    for (int stride = 1; stride <= 32; stride *= 2)
        measure("load_shared", text("stride %g", stride),
                [=] { load_shared<<<blocks, 256>>>(to, n, stride); });
    measure("load_shared4", "float4", [=] { load_shared4<<<blocks, 256>>>(to, n); });
    measure("store_shared", "stride 1", [=] { store_shared<<<blocks, 256>>>(to, n); });
    CHECK(cudaFree(a));
    CHECK(cudaFree(to));
}

// Times blocks in one launch, and in eight concurrent launches.
static void time_overlaps()
{
    if (!wanted("overlap_"))
        return;
    enum { STREAMS = 8 };
    static cudaStream_t stream[STREAMS];
    const int blocks = multiprocessors, n = 4096 / quick, many = ((int)64 << 20) / quick;
    float *a = device<float>((size_t)many), *b = device<float>((size_t)many);
    for (auto &s : stream)
        CHECK(cudaStreamCreate(&s)); // each waits for the default stream, which waits for them
    for (int launches = 1; launches <= STREAMS; launches *= STREAMS) {
        const std::string variant = text("8 blocks an SM in %g launches", launches);
        const int part = STREAMS / launches * blocks;
        measure("overlap_fma", variant, [=] {
            for (int i = 0; i < launches; i++)
                arith_fma<<<part, 128, 0, stream[i]>>>((float *)flush, 1, 3, n);
        });
        measure("overlap_chain", variant, [=] {
            for (int i = 0; i < launches; i++)
                chain_fma<<<part, 32, 0, stream[i]>>>((float *)flush, 1, 3, 8 * n);
        });
        measure(
            "overlap_read", variant,
            [=] {
                const int floats4 = many / 4 / launches;
                for (int i = 0; i < launches; i++)
                    read_float4<<<part, 128, 0, stream[i]>>>(a + (size_t)i * 4 * floats4,
                                                             (float4 *)b, floats4);
            },
            true);
    }
    for (auto &s : stream)
        CHECK(cudaStreamDestroy(s));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
}

static void time_uneven()
{
    if (!wanted("uneven"))
        return;
    const int blocks = 8 * multiprocessors, n = 256 / quick;
    float *a = device<float>((size_t)blocks * 128);
    for (int step : {1, 2, 3, multiprocessors, 8 * multiprocessors}) {
        const std::string variant = text("one of %g blocks works", step);
        measure("uneven", variant, [=] { uneven<NO_ATOMIC><<<blocks, 128>>>(a, step, n); });
        measure("uneven_adds", variant, [=] { uneven<ADDS><<<blocks, 128>>>(a, step, n); });
        measure("uneven_counts", variant, [=] { uneven<COUNTS><<<blocks, 128>>>(a, step, n); });
        measure("uneven_asks", variant, [=] { uneven<ASKS><<<blocks, 128>>>(a, step, n); });
        measure("uneven_once", variant, [=] { uneven<ASKS_ONCE><<<blocks, 128>>>(a, step, n); });
    }
    unsigned *next = device<unsigned>(1);
    for (int step : {1, 3}) {
        const unsigned tiles = 4 * (unsigned)blocks;
        measure("uneven_queue", text("one of %g tiles is work", step),
                [=] { uneven_queue<<<blocks / 4, 128>>>(a, next, step, tiles, n); });
    }
    CHECK(cudaFree(a));
    CHECK(cudaFree(next));
}

static void time_exchanges()
{
    if (!wanted("atomic") && !wanted("barriers") && !wanted("diverge"))
        return;
    static const char *const sharing[] = {"", "each its own", "one per warp", "one per block",
                                          "one"};
    const int blocks = 8 * multiprocessors, n = 64 / quick;
    float *a = device<float>((size_t)blocks * 256);
    for (int s = 1; s <= 4; s++) {
        int times = s == 4 ? 1 : s == 1 ? n : n / 4;
        measure("atomic_float", sharing[s], [=] { atomic_float<<<blocks, 256>>>(a, times, s); });
        measure("atomic_int", sharing[s],
                [=] { atomic_int<<<blocks, 256>>>((unsigned *)a, times, s); });
    }
    for (int ways = 1; ways <= 32; ways *= 8)
        measure("atomic_shared", text("%g lanes an element", ways),
                [=] { atomic_shared<<<blocks, 256>>>(a, n / 4, ways); });
    for (int threads = 64; threads <= 1024; threads *= 4)
        measure("barriers", text("blocks of %g", threads),
                [=] { barriers<<<multiprocessors * 2048 / threads, threads>>>((int *)a, n); });
    measure("diverge", "two ways", [=] { diverge<<<blocks, 256>>>(a, 0.5f, n / 4); });
    CHECK(cudaFree(a));
}

static void time_kernels()
{
    if (!wanted("transpose") && !wanted("matmul"))
        return;
    const int n = 2048 / quick, m = quick > 1 ? 256 : 512;
    float *a = device<float>(n * n), *b = device<float>(n * n), *c = device<float>(n * n);
    const dim3 tiles(n / 32, n / 32), block(32, 8);
    measure("transpose", "plain", [=] { transpose_plain<<<tiles, block>>>(a, b, n); });
    measure("transpose", "shared, 32 conflicts",
            [=] { transpose_shared<0><<<tiles, block>>>(a, b, n); });
    measure("transpose", "shared, padded", [=] { transpose_shared<1><<<tiles, block>>>(a, b, n); });
    for (int side = 8; side <= 32; side *= 2)
        measure("matmul", text("plain, blocks of %g squared", side),
                [=] { matmul_plain<<<dim3(m / side, m / side), dim3(side, side)>>>(c, a, b, m); });
    measure("matmul", "tiles of 16",
            [=] { matmul_tiled<16><<<dim3(m / 16, m / 16), dim3(16, 16)>>>(c, a, b, m); });
    measure("matmul", "tiles of 32",
            [=] { matmul_tiled<32><<<dim3(m / 32, m / 32), dim3(32, 32)>>>(c, a, b, m); });
    measure("matmul", "register tiles",
            [=] { matmul_registers<<<dim3(m / 64, m / 64), dim3(16, 16)>>>(c, a, b, m); });
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
}

static void time_copies()
{
    if (!wanted("h2d") && !wanted("d2h") && !wanted("d2d") && !wanted("memset"))
        return;
    const size_t most = ((size_t)64 << 20) / quick;
    char *pageable = (char *)malloc(most), *pinned, *a = device<char>(most),
         *b = device<char>(most);
    CHECK(cudaMallocHost(&pinned, most));
    memset(pageable, 1, most);
    memset(pinned, 1, most);
    for (size_t bytes = 4; bytes <= most; bytes *= bytes == 4 ? 1024 : 16)
        for (int kind = 0; kind < 2; kind++) {
            char *host = kind ? pinned : pageable;
            std::string what = text("%g bytes, ", (double)bytes) + (kind ? "pinned" : "pageable");
            measure("h2d", what, [=] { cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice); });
            measure("d2h", what, [=] { cudaMemcpy(host, a, bytes, cudaMemcpyDeviceToHost); });
        }
    for (size_t bytes = 4096; bytes <= most; bytes *= 16) {
        measure("d2d", text("%g bytes", (double)bytes),
                [=] { cudaMemcpyAsync(a, b, bytes, cudaMemcpyDeviceToDevice); });
        measure("memset", text("%g bytes", (double)bytes), [=] { cudaMemsetAsync(a, 0, bytes); });
    }
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    free(pageable);
}

static void print_device()
{
    static const struct {
        const char *name;
        cudaDeviceAttr attribute;
    } rows[] = {
        {"multiprocessors", cudaDevAttrMultiProcessorCount},
        {"clock, kHz", cudaDevAttrClockRate},
        {"memory clock, kHz", cudaDevAttrMemoryClockRate},
        {"memory bus, bits", cudaDevAttrGlobalMemoryBusWidth},
        {"L2, bytes", cudaDevAttrL2CacheSize},
        {"shared memory of a multiprocessor, bytes", cudaDevAttrMaxSharedMemoryPerMultiprocessor},
        {"registers of a multiprocessor", cudaDevAttrMaxRegistersPerMultiprocessor}};
    for (const auto &row : rows) {
        int value;
        CHECK(cudaDeviceGetAttribute(&value, row.attribute, 0));
        printf("device\t%s\t%d\n", row.name, value);
    }
    size_t free, total;
    CHECK(cudaMemGetInfo(&free, &total));
    printf("device\tmemory, bytes\t%zu\n", total);
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    std::vector<float> ones(4096, 1.0f);
    CHECK(cudaMemcpyToSymbol(table, ones.data(), sizeof table));
    if (wanted("device"))
        print_device();
    time_launches();
    time_arithmetic();
    time_chains();
    time_streams();
    time_loads();
    time_overlaps();
    time_uneven();
    time_exchanges();
    time_kernels();
    time_copies();
    return 0;
}
