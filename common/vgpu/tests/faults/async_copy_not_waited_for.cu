// nvcc: -arch=compute_80
// Each thread reads data that it and others have copied, without waiting for the copies: a barrier
// does not wait for them.
#include "vgpu/tests/faults.cuh"

#include <cuda_pipeline.h>

__global__ void work(const int *in, int *out)
{
    __shared__ int s[2][64];
    int t = threadIdx.x;
    s[0][t] = -1;
    __syncthreads();
    __pipeline_memcpy_async(&s[0][t], &in[t], sizeof(int));
    __pipeline_commit();
    __pipeline_memcpy_async(&s[1][t], &in[64 + t], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[t] = s[0][63 - t];
    out[64 + t] = s[1][63 - t]; // expect: race_raw
}

int main()
{
    std::vector<int> in(128);
    for (int i = 0; i < 128; i++)
        in[i] = i;
    Device<int> din(in), out(128);
    work<<<1, 64>>>(din, out);
    return done(cudaSuccess);
}
