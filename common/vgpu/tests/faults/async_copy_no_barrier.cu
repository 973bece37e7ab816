// nvcc: -arch=compute_80
// A thread waits only for its own copies; the copies of other threads need a barrier after the
// wait.
#include "vgpu/tests/faults.cuh"

#include <cuda_pipeline.h>

__global__ void work(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    if (t < 32)
        out[t] = s[t];
    else
        out[t] = s[63 - t]; // expect: race_raw
}

int main()
{
    std::vector<int> in(64);
    for (int i = 0; i < 64; i++)
        in[i] = i;
    Device<int> din(in), out(64);
    work<<<1, 64>>>(din, out);
    return done(cudaSuccess);
}
