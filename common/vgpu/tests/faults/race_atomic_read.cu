// A plain read of a counter to which other warps still add with atomics.
#include "vgpu/tests/faults.cuh"

__global__ void total(const int *in, int *out)
{
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[threadIdx.x]);
    out[threadIdx.x] = sum; // expect: race_raw
}

int main()
{
    Device<int> in(std::vector<int>(64, 1)), out(64);
    total<<<1, 64>>>(in, out);
    return done(cudaSuccess);
}
