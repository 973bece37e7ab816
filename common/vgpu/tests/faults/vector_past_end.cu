// float4 loads over an array whose length is not a multiple of four.
#include "vgpu/tests/faults.cuh"

__global__ void sum(const float4 *in, float *out, int n)
{
    int i = threadIdx.x;
    if (4 * i < n) {
        float4 v = in[i]; // expect: out_of_bounds
        out[i] = v.x + v.y + v.z + v.w;
    }
}

int main()
{
    Device<float> in(std::vector<float>(30, 1.0f)), out(8);
    sum<<<1, 8>>>((const float4 *)(float *)in, out, 30);
    return done(cudaErrorIllegalAddress);
}
