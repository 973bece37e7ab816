// A kernel reads a layered texture as a cube map.
#include "vgpu/tests/faults.cuh"

__global__ void read(cudaTextureObject_t t, float *out)
{
    *out = texCubemap<float>(t, 1, 0, 0); // expect: invalid_object
}

int main()
{
    Device<float> out(1);
    cudaArray_t array;
    cudaTextureObject_t texture;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(16, 16, 4), cudaArrayLayered));
    std::vector<float> zeros(16 * 16 * 4, 0.0f);
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(zeros.data(), 16 * sizeof(float), 16, 16);
    p.dstArray = array;
    p.extent = make_cudaExtent(16, 16, 4);
    p.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&p));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc texture_desc = {};
    texture_desc.normalizedCoords = 1;
    CHECK(cudaCreateTextureObject(&texture, &resource, &texture_desc, NULL));
    read<<<1, 1>>>(texture, out);
    return done(cudaErrorIllegalAddress);
}
