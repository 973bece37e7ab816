// Two warps write different values to the same element.
#include "vgpu/tests/faults.cuh"

__global__ void clash(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t % 32] = t; // expect: race_waw
    __syncthreads();
    if (t < 32)
        out[t] = s[t];
}

int main()
{
    Device<int> out(32);
    clash<<<1, 64>>>(out);
    return done(cudaSuccess);
}
