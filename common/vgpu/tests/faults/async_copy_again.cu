// nvcc: -arch=compute_80
// Reads words of a tile that a second asynchronous copy has not replaced yet: one word for each thread,
// three of four, and halves of words.
#include "vgpu/tests/faults.cuh"

#include <cuda_pipeline.h>

__global__ void copy(const float4 *in, float *out)
{
    __shared__ float4 tile[32], other[32];
    tile[threadIdx.x] = other[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(float4));
    __pipeline_memcpy_async(&other[threadIdx.x].w, &in[threadIdx.x].w, sizeof(float));
    __pipeline_commit();
    const float one = ((const float *)tile)[threadIdx.x];            // expect: race_raw
    const float4 most = *(const float4 *)&other[threadIdx.x];        // expect: race_raw
    const short half = ((const short *)tile)[128 + 2 * threadIdx.x]; // expect: race_raw
    const short row = ((const short *)tile)[64 + threadIdx.x];       // expect: race_raw
    out[threadIdx.x] = one + most.x + most.y + most.z + half + row;
    __pipeline_wait_prior(0);
}

int main()
{
    Device<float4> in(32);
    Device<float> out(32);
    in.zero();
    copy<<<1, 32>>>(in, out);
    return done(cudaSuccess);
}
