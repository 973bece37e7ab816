// The host copies n elements to the device, but states the size in elements instead of bytes.
#include "vgpu/tests/faults.cuh"

__global__ void twice(const float *in, float *out)
{
    out[threadIdx.x] = 2 * in[threadIdx.x]; // expect: uninitialised
}

int main()
{
    std::vector<float> h(64, 1.0f);
    Device<float> in(64), out(64);
    CHECK(cudaMemcpy(in, h.data(), 64, cudaMemcpyHostToDevice));
    twice<<<1, 64>>>(in, out);
    return done(cudaSuccess);
}
