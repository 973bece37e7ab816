// A surface is addressed in bytes along x: the last thread writes past the end of its row.
#include "vgpu/tests/faults.cuh"

__global__ void paint(cudaSurfaceObject_t s)
{
    surf2Dwrite(1.0f, s, (threadIdx.x + 1) * 4, 0); // expect: out_of_bounds
}

int main()
{
    cudaArray_t a;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&a, &desc, 32, 4, cudaArraySurfaceLoadStore));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaSurfaceObject_t s;
    CHECK(cudaCreateSurfaceObject(&s, &r));
    paint<<<1, 32>>>(s);
    return done(cudaErrorIllegalAddress);
}
