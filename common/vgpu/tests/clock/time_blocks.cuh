// Times blocks whose work is uneven, and blocks in concurrent launches.
#pragma once

#include "vgpu/tests/clock/time_arithmetic.cuh"
#include "vgpu/tests/clock/time_memory.cuh"

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

// Only the blocks whose number is a multiple of step do work. Every 16 rounds they execute no
// atomic operation; a sum; a count in a histogram; or an operation whose result could end the
// block, but does not. With ASKS_ONCE, every block executes one such operation at its start, and
// none later.
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
