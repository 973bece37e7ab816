// nvcc: -std=c++17 -arch=compute_80
// vgpu: faults
// An asynchronous copy and a shuffle move elements that nothing wrote; then the kernel adds them.
#include <cuda_pipeline.h>

#include "vgpu/tests/faults.cuh"

__global__ void make(float4 *points)
{
    points[threadIdx.x].x = threadIdx.x, points[threadIdx.x].y = 1;
}

__global__ void copied(const float4 *points, float *out)
{
    __shared__ float4 tile[32];
    __pipeline_memcpy_async(tile + threadIdx.x, points + threadIdx.x, sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    const float4 p = tile[31 - threadIdx.x]; // expect: uninitialised
    out[threadIdx.x] = p.x + p.y + p.z;
}

__global__ void shuffled(const float4 *points, float *out)
{
    const float4 p = points[threadIdx.x]; // expect: uninitialised
    out[threadIdx.x] = p.x + __shfl_xor_sync(~0u, p.z, 1);
}

int main()
{
    Device<float4> points(32);
    Device<float> out(32);
    make<<<1, 32>>>(points);
    copied<<<1, 32>>>(points, out);
    shuffled<<<1, 32>>>(points, out);
    return done(cudaSuccess);
}
