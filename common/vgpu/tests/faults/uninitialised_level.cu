// A level of a mipmap is read that was never written.
#include "vgpu/tests/faults.cuh"

__global__ void read(cudaTextureObject_t t, float level, float *out)
{
    out[threadIdx.x] =
        tex2DLod<float>(t, threadIdx.x / 32.0f, 0.5f, level); // expect: uninitialised
}

int main()
{
    const cudaChannelFormatDesc texel = cudaCreateChannelDesc<float>();
    cudaMipmappedArray_t m;
    cudaArray_t level;
    std::vector<float> image(32 * 32, 1.0f);
    Device<float> out(32);
    cudaTextureObject_t t;
    cudaTextureDesc d = {};
    cudaResourceDesc r = {};
    CHECK(cudaMallocMipmappedArray(&m, &texel, make_cudaExtent(32, 32, 0), 6));
    CHECK(cudaGetMipmappedArrayLevel(&level, m, 0));
    CHECK(cudaMemcpy2DToArray(level, 0, 0, image.data(), 128, 128, 32, cudaMemcpyHostToDevice));
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = m;
    d.normalizedCoords = 1;
    d.maxMipmapLevelClamp = 5;
    CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    read<<<1, 32>>>(t, 0, out);
    read<<<1, 32>>>(t, 1, out);
    return done(cudaSuccess);
}
