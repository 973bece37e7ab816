// Threads that load words of a tile that nothing wrote, and do not store what they compute from them: no
// finding. Beside them, threads that do: one lane more, in a later round, through another lane, by an
// atomic operation, and under a condition that is not known at the load.
#include "vgpu/tests/faults.cuh"

const int THREADS = 32, N = 20;

// The sum of each element and the three after it, for n elements.
__global__ void sums(const float *in, int n, float *out)
{
    __shared__ float tile[THREADS + 3];
    const int i = threadIdx.x;
    if (i < n)
        tile[i] = in[i];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 4; k++)
        sum += tile[i + k] * 2;
    if (i + 3 < n)
        out[i] = sum;
}

__global__ void one_more(const float *in, int n, float *out)
{
    __shared__ float tile[THREADS];
    const int i = threadIdx.x;
    if (i < n)
        tile[i] = in[i];
    __syncthreads();
    const float x = tile[i]; // expect: uninitialised
    if (i <= n)
        out[i] = x * 2;
}

__global__ void later_round(const float *in, int n, int rounds, float *out)
{
    __shared__ float tile[2 * THREADS];
    float sum = 0;
    for (int round = 0; round < rounds; round++) {
        const int i = threadIdx.x + round;
        if (i < n)
            tile[i] = in[i];
        __syncthreads();
        sum += tile[threadIdx.x] * 2; // expect: uninitialised
        __syncthreads();
        if (i != n)
            out[i] = sum;
    }
}

__global__ void other_lane(const float *in, int n, float *out)
{
    __shared__ float tile[THREADS];
    const int i = threadIdx.x;
    if (i < n)
        tile[i] = in[i];
    __syncthreads();
    const float x = __shfl_xor_sync(~0u, tile[i] * 2, 16); // expect: uninitialised
    if (i < n)
        out[i] = x;
}

__global__ void atomic(const float *in, int n, float *out)
{
    __shared__ float tile[THREADS];
    const int i = threadIdx.x;
    if (i < n)
        tile[i] = in[i];
    __syncthreads();
    const float x = tile[i] * 2; // expect: uninitialised
    if (i < n)
        out[i] = x;
    atomicAdd(out, x);
}

__global__ void loaded_condition(const float *in, int n, const int *limit, float *out)
{
    __shared__ float tile[THREADS];
    const int i = threadIdx.x;
    if (i < n)
        tile[i] = in[i];
    __syncthreads();
    const float x = tile[i]; // expect: uninitialised
    __syncthreads();
    if (i < __ldcv(limit))
        out[i] = x * 2;
}

int main()
{
    Device<float> in(std::vector<float>(THREADS, 1.0f)), out(std::vector<float>(2 * THREADS, 0.0f));
    Device<int> limit(std::vector<int>(1, THREADS));
    sums<<<2, THREADS>>>(in, N, out);
    one_more<<<1, THREADS>>>(in, N, out);
    later_round<<<1, THREADS>>>(in, N, 2, out);
    other_lane<<<1, THREADS>>>(in, N, out);
    atomic<<<1, THREADS>>>(in, N, out);
    loaded_condition<<<1, THREADS>>>(in, N, limit, out);
    return done(cudaSuccess);
}
