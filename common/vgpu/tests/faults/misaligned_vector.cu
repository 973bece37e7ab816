// A float4 load from an address that is only a multiple of 4.
#include "vgpu/tests/faults.cuh"

__global__ void load(const float *in, float *out)
{
    float4 v = *(const float4 *)(in + 1 + 4 * threadIdx.x); // expect: misaligned
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

int main()
{
    Device<float> in(std::vector<float>(256, 1.0f)), out(32);
    load<<<1, 32>>>(in, out);
    return done(cudaErrorMisalignedAddress);
}
