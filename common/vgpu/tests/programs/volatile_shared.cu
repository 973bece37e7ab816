// Volatile shared memory without a race: sums of a block by halves, with barriers and, in the last
// warp, with __syncwarp(); and a warp that waits until the others have counted atomically.
#include "vgpu/tests/check.cuh"

enum { THREADS = 128, BLOCKS = 40 };

__device__ void sum_last_warp(volatile int *part, int t)
{
    for (int half = 32; half > 0; half /= 2) {
        const int other = part[t + half];
        __syncwarp();
        part[t] = part[t] + other;
        __syncwarp();
    }
}

__global__ void sum(const int *x, int *out)
{
    __shared__ volatile int part[THREADS];
    __shared__ int ready;
    const int t = threadIdx.x;
    if (t == 0)
        ready = 0;
    part[t] = x[blockIdx.x * THREADS + t];
    __syncthreads();
    if (t < THREADS / 2)
        part[t] = part[t] + part[t + THREADS / 2];
    __syncthreads();
    if (t < 32) {
        sum_last_warp(part, t);
        while (*(volatile int *)&ready < THREADS - 32)
            ;
    } else {
        atomicAdd(&ready, 1);
    }
    if (t == 0)
        out[blockIdx.x] = part[0] + *(volatile int *)&ready;
}

int main()
{
    std::vector<int> x(THREADS * BLOCKS), want(BLOCKS, THREADS - 32);
    for (size_t i = 0; i < x.size(); i++) {
        x[i] = (int)(i * i % 1009);
        want[i / THREADS] += x[i];
    }
    Device<int> in(x), out(BLOCKS);
    sum<<<BLOCKS, THREADS>>>(in, out);
    LAUNCHED();
    const std::vector<int> got = out.host();
    return verdict("volatile_shared", got == want, got);
}
