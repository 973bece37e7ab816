// The halo of a tile in shared memory is never loaded.
#include "vgpu/tests/faults.cuh"

__global__ void blur(const int *in, int *out)
{
    __shared__ int s[34];
    int t = threadIdx.x;
    s[t + 1] = in[t];
    __syncthreads();
    out[t] = s[t] + s[t + 1] + s[t + 2]; // expect: uninitialised
}

int main()
{
    Device<int> in(std::vector<int>(32, 1)), out(32);
    blur<<<1, 32>>>(in, out);
    return done(cudaSuccess);
}
