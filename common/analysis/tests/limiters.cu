// nvcc: -gencode arch=compute_75,code=compute_75 -gencode arch=compute_75,code=sm_90
// Kernels with a single limiter, each followed by a similar kernel without this limiter. The name
// states the verdict that limiters.sh expects: is_LIMITER, or not_LIMITER for any other limiter.
#include "vgpu/tests/check.cuh"

// ---- arithmetic: eight independent chains per thread --------------------------------------------

#define CHAINS(NAME, TYPE, STEP)                                                                   \
    __global__ void NAME(TYPE *to, TYPE a, TYPE b, int n)                                          \
    {                                                                                              \
        TYPE x[8];                                                                                 \
        for (int i = 0; i < 8; i++)                                                                \
            x[i] = threadIdx.x + i;                                                                \
        for (int k = 0; k < n; k++) {                                                              \
            _Pragma("unroll") for (int i = 0; i < 8; i++) x[i] = STEP;                             \
        }                                                                                          \
        for (int i = 1; i < 8; i++)                                                                \
            x[0] = x[0] + x[i];                                                                    \
        if (x[0] == (TYPE)0x7123)                                                                  \
            to[0] = x[0];                                                                          \
    }

CHAINS(is_fp32, float, fmaf(x[i], a, b))
CHAINS(not_fp32, float, (float)((unsigned)x[i] * (unsigned)k + (unsigned)i))
CHAINS(is_int, unsigned, x[i] * a + b)
CHAINS(not_int, float, fmaf(x[i], a, b))
CHAINS(is_fp64, double, fma(x[i], a, b))
CHAINS(is_special, float, exp2f(x[i]))

// Like is_fp32, with an index computed for each multiply-add: most instructions are not
// multiply-adds.
__global__ void is_issue(float *to, float a, int n)
{
    float x[4] = {0, 1, 2, 3};
    unsigned m[4] = {threadIdx.x, 1, 2, 3};
    for (int k = 0; k < n; k++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            x[i] = fmaf(x[i], a, 1.0f);
            m[i] = (m[i] + k) ^ 5;
        }
    }
    if (x[0] + x[1] + x[2] + x[3] + m[0] + m[1] + m[2] + m[3] == 0.123f)
        to[0] = x[0];
}

// ---- divergence: the warp's lanes take two paths, or one -------------------------------

template <int SHIFT> __device__ void two_ways(float *to, float a, int n)
{
    float x = threadIdx.x, y = 1;
    for (int k = 0; k < n; k++) {
        if (((threadIdx.x >> SHIFT) + k) & 1) {
#pragma unroll
            for (int i = 0; i < 8; i++)
                x = x * a + sqrtf(y);
        } else {
#pragma unroll
            for (int i = 0; i < 8; i++)
                y = y * a + sqrtf(x);
        }
    }
    if (x + y == 0.123f)
        to[0] = x;
}
__global__ void is_divergence(float *to, float a, int n)
{
    two_ways<0>(to, a, n);
}
__global__ void not_divergence(float *to, float a, int n)
{
    two_ways<5>(to, a, n);
}

// ---- shared memory: all words in different banks, or in one bank ---------------------

template <int STRIDE> __device__ void read_shared(float *to, int n)
{
    __shared__ float s[32 * 33];
    for (int i = threadIdx.x; i < 32 * 33; i += blockDim.x)
        s[i] = i;
    __syncthreads();
    float sum = 0;
    const unsigned at = (threadIdx.x & 31) * STRIDE;
#pragma unroll 8
    for (int k = 0; k < n; k++)
        sum += s[(at + (k & 7)) % (32 * 33)];
    if (sum == 0.123f)
        to[0] = sum;
}
__global__ void is_bank_conflicts(float *to, int n)
{
    read_shared<32>(to, n);
}
__global__ void not_bank_conflicts(float *to, int n)
{
    read_shared<33>(to, n);
}

// Four floats at once: four wavefronts per request, without conflicts.
__global__ void is_shared(float *to, int n)
{
    __shared__ float4 s[256];
    s[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncthreads();
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < n; k++) {
        const float4 v = s[(threadIdx.x + k) & 255];
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 0.123f)
        to[0] = sum;
}

// ---- global memory ------------------------------------------------------------------------------

// Each float once: only DRAM limits.
__global__ void is_dram(float4 *to, const float4 *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}
// Reads a small part of the array repeatedly, which stays in the caches.
__global__ void not_dram(float4 *to, const float4 *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = make_float4(0, 0, 0, 0);
    for (int k = 0; k < 64; k++) {
        const float4 u = from[(threadIdx.x + k) & 255];
        v.x += u.x + u.y;
        v.z += u.z + u.w;
    }
    if (i < n && v.x + v.z == 0.123f)
        to[i] = v;
}
// Neighbouring threads access elements one row apart, or adjacent ones.
__global__ void is_uncoalesced(float *to, const float *from, int rows, int width)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (row < rows)
        for (int i = 0; i < width; i++)
            sum += __ldcg(&from[(size_t)row * width + i]);
    if (sum == 0.123f)
        to[row] = sum;
}
__global__ void not_uncoalesced(float *to, const float *from, int rows, int width)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (row < rows)
        for (int i = 0; i < width; i++)
            sum += __ldcg(&from[(size_t)i * rows + row]);
    if (sum == 0.123f)
        to[row] = sum;
}
// 16 KB per block, which bypass L1; all sectors are full.
__global__ void is_l2(float *to, const float4 *from, int n)
{
    float sum = 0;
    from += (size_t)blockIdx.x * 1024;
#pragma unroll 8
    for (int k = 0; k < n; k++) {
        const float4 v = __ldcg(&from[(threadIdx.x + k * 32) & 1023]);
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 0.123f)
        to[0] = sum;
}
// All blocks read the same 16 KB, which L1 holds.
__global__ void is_l1(float *to, const float4 *from, int n)
{
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < n; k++) {
        const float4 v = from[(threadIdx.x + k * 32) & 1023];
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 0.123f)
        to[0] = sum;
}

// ---- atomics, constant memory, barriers ---------------------------------------------------------

__global__ void is_atomic(float *to, int n)
{
    for (int k = 0; k < n; k++)
        atomicAdd(&to[k & 7], 1.0f);
}
__global__ void not_atomic(float *to, int n) // each thread first adds in a register
{
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum = sum * 0.5f + k;
    if (threadIdx.x == 0)
        atomicAdd(&to[blockIdx.x & 1023], sum);
}

__constant__ float table[4096];

template <int STRIDE> __device__ void read_constant(float *to, int n)
{
    float sum = 0;
    const unsigned at = threadIdx.x * STRIDE;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        sum += table[(at + k) & 4095];
    if (sum == 0.123f)
        to[0] = sum;
}
__global__ void is_constant(float *to, int n)
{
    read_constant<32>(to, n);
}
__global__ void not_constant(float *to, int n)
{
    read_constant<0>(to, n);
}

__global__ void is_barriers(float *to, int n)
{
    for (int k = 0; k < n; k++)
        __syncthreads();
    if (n == 0x7fffffff)
        to[0] = n;
}

// ---- too little work ----------------------------------------------------------------------------

// Shared memory limits a multiprocessor to two warps, and each load waits for the previous one.
__global__ void is_latency(unsigned *to, const unsigned *next, int n)
{
    extern __shared__ float room[];
    if (n < 0)
        room[threadIdx.x] = 0;
    unsigned at = threadIdx.x;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        at = next[at & 1023];
    to[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
// These loads without dependencies, by more warps.
__global__ void not_latency(unsigned *to, const unsigned *next, int n)
{
    unsigned sum = 0;
#pragma unroll 8
    for (int k = 0; k < n; k++)
        sum += next[(threadIdx.x + k) & 1023];
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void is_launch(float *to)
{
    to[threadIdx.x] = 1;
}
__global__ void is_small_blocks(float *to)
{
    if (blockIdx.x == 0x7fffffff)
        to[threadIdx.x] = 1;
}

// One block more than multiprocessors: most multiprocessors wait for the last block.
CHAINS(is_few_blocks, float, fmaf(x[i], a, b))
CHAINS(not_few_blocks, float, fmaf(x[i], a, b))

// An array with a variable index is in local memory.
__global__ void is_local(float *to, int n)
{
    float a[64];
    for (int i = 0; i < 64; i++)
        a[i] = i + n;
    unsigned at = threadIdx.x;
    for (int k = 0; k < n; k++) {
        at = at * 5 + 1;
        a[at & 63] += a[(at >> 8) & 63];
    }
    if (a[n & 63] == 0.123f)
        to[0] = a[0];
}

// ---- main program -------------------------------------------------------------------------------

template <typename T> static T *device(size_t n)
{
    T *p;
    CHECK(cudaMalloc(&p, n * sizeof(T)));
    CHECK(cudaMemset(p, 0, n * sizeof(T)));
    return p;
}

int main()
{
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    const int chips = properties.multiProcessorCount, grid = 4 * chips;
    const int n = 4 << 20;
    float *a = device<float>(n), *b = device<float>(n);
    unsigned *u = (unsigned *)a;
    is_fp32<<<grid, 256>>>(a, 0.5f, 1, 64);
    not_fp32<<<grid, 256>>>(a, 0.5f, 1, 32);
    is_int<<<grid, 256>>>(u, 3, 1, 64);
    not_int<<<grid, 256>>>(a, 0.5f, 1, 64);
    is_fp64<<<grid, 256>>>((double *)a, 0.5, 1, 64);
    is_special<<<grid, 256>>>(a, 0.5f, 1, 64);
    is_issue<<<grid, 256>>>(a, 0.5f, 128);
    is_divergence<<<grid, 256>>>(a, 0.5f, 16);
    not_divergence<<<grid, 256>>>(a, 0.5f, 16);
    is_bank_conflicts<<<grid, 256>>>(a, 64);
    not_bank_conflicts<<<grid, 256>>>(a, 256);
    is_shared<<<grid, 256>>>(a, 128);
    is_atomic<<<grid, 256>>>(a, 1);
    not_atomic<<<grid, 256>>>(a, 256);
    is_constant<<<grid, 256>>>(a, 64);
    not_constant<<<grid, 256>>>(a, 64);
    is_barriers<<<2 * chips, 1024>>>(a, 64);
    const int room = 100 << 10;
    CHECK(cudaFuncSetAttribute(is_latency, cudaFuncAttributeMaxDynamicSharedMemorySize, room));
    is_latency<<<2 * chips, 32, room>>>(u, (unsigned *)b, 256);
    not_latency<<<grid, 256>>>(u, (unsigned *)b, 256);
    is_launch<<<1, 32>>>(a);
    is_small_blocks<<<256 * chips, 32>>>(a);
    is_few_blocks<<<chips + 1, 256>>>(a, 0.5f, 1, 512);
    not_few_blocks<<<2 * chips, 256>>>(a, 0.5f, 1, 512);
    is_local<<<grid, 256>>>(a, 64);
    is_l1<<<grid, 256>>>(b, (float4 *)a, 128);
    is_l2<<<grid, 256>>>(b, (float4 *)a, 128);
    not_dram<<<grid, 256>>>((float4 *)b, (float4 *)a, grid * 256);
    is_uncoalesced<<<n / 32 / 256, 256>>>(b, a, n / 32, 32);
    not_uncoalesced<<<n / 32 / 256, 256>>>(b, a, n / 32, 32);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    // Larger than an L2 cache, and accessed for the first time.
    float4 *x = device<float4>(n), *y = device<float4>(n);
    is_dram<<<n / 256, 256>>>(y, x, n);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGetLastError());
    return 0;
}
