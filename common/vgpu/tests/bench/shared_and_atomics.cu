// The cost of a warp's atomic operations and of its accesses to shared memory, in nanoseconds of
// one core: part of `make bench`, by `build/vgpu-run --cores 1
// build/vgpu/tests/bench/shared_and_atomics`. Runs on a GPU as well.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cuda_runtime.h>

enum { THREADS = 256, BLOCKS = 64, ROUNDS = 64, REPEATS = 9, BINS = 256 };

// In every warp, a kernel performs ROUNDS operations of the kind in its name.
__global__ void float_sum(int *, float *floats)
{
    for (int i = 0; i < ROUNDS; i++)
        atomicAdd(floats, 1.0f);
}

__global__ void int_sum(int *ints, float *)
{
    for (int i = 0; i < ROUNDS; i++)
        atomicAdd(ints, i);
}

__global__ void int_tickets(int *ints, float *)
{
    int last = 0;
    for (int i = 0; i < ROUNDS; i++)
        last += atomicAdd(ints, 1);
    ints[1 + threadIdx.x] = last;
}

__global__ void float_rows(int *, float *floats)
{
    for (int i = 0; i < ROUNDS; i++)
        atomicAdd(&floats[threadIdx.x], 1.0f);
}

__global__ void int_rows(int *ints, float *)
{
    for (int i = 0; i < ROUNDS; i++)
        atomicAdd(&ints[threadIdx.x], 1);
}

__global__ void histogram(int *ints, float *)
{
    unsigned random = blockIdx.x * THREADS + threadIdx.x;
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 1664525 + 1013904223;
        atomicAdd(&ints[random >> 24], 1);
    }
}

__global__ void shared_histogram(int *ints, float *)
{
    __shared__ int bins[BINS];
    unsigned random = blockIdx.x * THREADS + threadIdx.x;
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 1664525 + 1013904223;
        atomicAdd(&bins[random >> 24], 1);
    }
    __syncthreads();
    ints[threadIdx.x] = bins[threadIdx.x];
}

__global__ void shared_int_sum(int *ints, float *)
{
    __shared__ int sum;
    if (threadIdx.x == 0)
        if (threadIdx.x == 0)
            sum = 0;
    __syncthreads();
    for (int i = 0; i < ROUNDS; i++)
        atomicAdd(&sum, i);
    __syncthreads();
    ints[threadIdx.x] = sum;
}

__global__ void shared_float_rows(int *, float *floats)
{
    __shared__ float sums[THREADS];
    sums[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < ROUNDS; i++)
        atomicAdd(&sums[threadIdx.x], 1.0f);
    __syncthreads();
    floats[threadIdx.x] = sums[threadIdx.x];
}

// Each element is written once and read once: the threads reverse the array.
__global__ void shared_once(int *, float *floats)
{
    __shared__ float tile[THREADS];
    float value = threadIdx.x;
    for (int i = 0; i < ROUNDS; i++) {
        tile[threadIdx.x] = value;
        __syncthreads();
        value = tile[THREADS - 1 - threadIdx.x];
        __syncthreads();
    }
    floats[threadIdx.x] = value;
}

// Adds halves of the array: a thread writes to an element that it has read.
__global__ void shared_halves(int *, float *floats)
{
    __shared__ float sums[THREADS];
    for (int i = 0; i < ROUNDS / 8; i++) {
        sums[threadIdx.x] = threadIdx.x;
        __syncthreads();
        for (int half = THREADS / 2; half > 0; half /= 2) {
            if (threadIdx.x < half)
                sums[threadIdx.x] += sums[threadIdx.x + half];
            __syncthreads();
        }
    }
    floats[threadIdx.x] = sums[0];
}

// Accesses the same words repeatedly between two barriers.
__global__ void shared_reuse(int *, float *floats)
{
    __shared__ float tile[2 * THREADS];
    float value = 0;
    tile[threadIdx.x] = tile[THREADS + threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < ROUNDS; i++)
            value += tile[threadIdx.x + i];
    floats[threadIdx.x] = value;
}

static double nanoseconds(void (*kernel)(int *, float *), int *ints, float *floats)
{
    double took[REPEATS];
    for (double &t : took) {
        const auto begin = std::chrono::steady_clock::now();
        kernel<<<BLOCKS, THREADS>>>(ints, floats);
        cudaDeviceSynchronize();
        t = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin)
                .count();
    }
    return *std::min_element(took, took + REPEATS) / (BLOCKS * THREADS / 32 * ROUNDS);
}

int main()
{
    int *ints;
    float *floats;
    cudaMalloc(&ints, 1 << 16);
    cudaMalloc(&floats, 1 << 16);
    cudaMemset(ints, 0, 1 << 16);
    cudaMemset(floats, 0, 1 << 16);
    printf("Nanoseconds that a warp takes for one round of\n");
#define SHOW(kernel) printf("%-20s %8.0f\n", #kernel, nanoseconds(kernel, ints, floats))
    SHOW(float_sum);
    SHOW(int_sum);
    SHOW(int_tickets);
    SHOW(float_rows);
    SHOW(int_rows);
    SHOW(histogram);
    SHOW(shared_histogram);
    SHOW(shared_int_sum);
    SHOW(shared_float_rows);
    SHOW(shared_once);
    SHOW(shared_halves);
    SHOW(shared_reuse);
    if (cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "shared_and_atomics: a launch failed\n");
        return 1;
    }
    return 0;
}
