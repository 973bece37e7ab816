// Times interactions of threads: atomic operations, barriers and divergence.
#pragma once

#include "vgpu/tests/clock/measure.cuh"

// Adds to one element per thread (sharing 1), per warp (2), per block (3) or of the whole grid (4).
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
