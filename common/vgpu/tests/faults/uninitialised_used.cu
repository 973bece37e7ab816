// Uses of values that nothing wrote: in a loop, in a comparison that decides a branch or a maximum,
// as the second element of a vector, in a branch that some threads take, as an index, in one of two
// conditions, and as a number that another thread stores.
#include "vgpu/tests/faults.cuh"

__global__ void weigh(const float *in, int n, float *out)
{
    __shared__ float weights[33];
    weights[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    const float weight = weights[threadIdx.x + 1]; // expect: uninitialised
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += weight * in[i];
    out[threadIdx.x] = sum;
}

__global__ void largest(const float *in, float *out)
{
    float largest = in[threadIdx.x];
    const float other = in[threadIdx.x + 1]; // expect: uninitialised
    if (other > largest)
        largest = other;
    out[threadIdx.x] = largest;
}

__global__ void count(const int *in, int *out)
{
    if (in[threadIdx.x + 32] > 3) // expect: uninitialised
        atomicAdd(out, 1);
}

__global__ void pair(const float2 *in, float *out)
{
    const float2 p = in[threadIdx.x]; // expect: uninitialised
    out[threadIdx.x] = p.x * p.y;
}

__global__ void last(const float *in, int n, float *out)
{
    const float x = __ldcg(in + threadIdx.x); // expect: uninitialised
    if (threadIdx.x <= n)
        out[threadIdx.x] = x * 2 + 1;
}

__global__ void look_up(const int *at, const float *table, float *out)
{
    const int i = at[threadIdx.x]; // expect: uninitialised
    out[threadIdx.x] = table[i & 31];
}

__global__ void both(const float *in, int n, int *out)
{
    const float x = __ldcg(in + threadIdx.x); // expect: uninitialised
    const bool some = threadIdx.x <= n && x > 2;
    if (some)
        atomicAdd(out, 1);
}

__global__ void pass(const float *in, float *out)
{
    __shared__ float scaled[64];
    scaled[threadIdx.x] = in[threadIdx.x] * 2 + 1;
    __syncthreads();
    out[threadIdx.x] = scaled[63 - threadIdx.x]; // expect: uninitialised
}

int main()
{
    std::vector<float> h(64, 1.0f);
    Device<float> in(64), out(64);
    Device<int> counter(std::vector<int>(1, 0));
    CHECK(cudaMemcpy(in, h.data(), 32 * sizeof(float), cudaMemcpyHostToDevice));
    weigh<<<1, 32>>>(in, 32, out);
    largest<<<1, 32>>>(in, out);
    count<<<1, 32>>>((const int *)(const float *)in, counter);
    pair<<<1, 17>>>((const float2 *)(const float *)in, out);
    last<<<1, 64>>>(in, 32, out);
    look_up<<<1, 33>>>((const int *)(const float *)in, in, out);
    both<<<1, 64>>>(in, 32, counter);
    pass<<<1, 64>>>(in, out);
    return done(cudaSuccess);
}
