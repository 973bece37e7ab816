// Uses of values that nothing wrote: in a loop, in a comparison that decides a branch or a maximum,
// and as the second element of a vector.
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
    return done(cudaSuccess);
}
