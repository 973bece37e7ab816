// A texture object is used after it was destroyed.
#include "vgpu/tests/faults.cuh"

__global__ void read(cudaTextureObject_t t, float *out)
{
    out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); // expect: invalid_object
}

int main()
{
    Device<float> in(std::vector<float>(32, 1.0f)), out(32);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = in.p;
    r.res.linear.desc = cudaCreateChannelDesc<float>();
    r.res.linear.sizeInBytes = 32 * sizeof(float);
    cudaTextureDesc d = {};
    cudaTextureObject_t t;
    CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    CHECK(cudaDestroyTextureObject(t));
    read<<<1, 32>>>(t, out);
    return done(cudaErrorIllegalAddress);
}
