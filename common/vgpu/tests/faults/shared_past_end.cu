// A tile in shared memory that is one row too small.
#include "vgpu/tests/faults.cuh"

__global__ void tile(int *out, int rows)
{
    __shared__ int s[16][16];
    for (int y = threadIdx.y; y < rows; y += 16)
        s[y][threadIdx.x] = y; // expect: out_of_bounds
    __syncthreads();
    out[threadIdx.y * 16 + threadIdx.x] = s[threadIdx.y][threadIdx.x];
}

int main()
{
    Device<int> out(256);
    tile<<<1, dim3(16, 16)>>>(out, 17);
    return done(cudaErrorIllegalAddress);
}
