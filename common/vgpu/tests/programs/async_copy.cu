// Asynchronous copies from global to shared memory in two stages.

// nvcc: -arch=compute_80
#include <cuda_pipeline.h>

#include "vgpu/tests/check.cuh"

__global__ void work(const float4 *in, float4 *out, int tiles)
{
    __shared__ float4 stage[2][64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&stage[0][t], &in[t], sizeof(float4));
    __pipeline_commit();
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles)
            __pipeline_memcpy_async(&stage[(i + 1) & 1][t], &in[(i + 1) * 64 + t], sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float4 v = stage[i & 1][63 - t];
        out[i * 64 + t] = make_float4(v.x * 2, v.y, v.z, v.w + 1);
        __syncthreads();
    }
}

int main()
{
    const int tiles = 5, n = tiles * 64;
    Random random(36);
    std::vector<float4> in(n);
    for (float4 &v : in)
        v = make_float4(random.exact(), random.exact(), random.exact(), random.exact());
    Device<float4> din(in), dout(n);
    work<<<1, 64>>>(din, dout, tiles);
    LAUNCHED();
    std::vector<float4> out = dout.host();
    bool ok = true;
    for (int i = 0; i < n; i++) {
        float4 v = in[i / 64 * 64 + 63 - i % 64];
        ok &= out[i].x == v.x * 2 && out[i].y == v.y && out[i].z == v.z && out[i].w == v.w + 1;
    }
    return verdict("async_copy", ok, out);
}
