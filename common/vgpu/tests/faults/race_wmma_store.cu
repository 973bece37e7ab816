// The second warp reads the matrix that the first warp stores, without a barrier in between. The
// warps' stores to other places, and what they read after the barrier, are right.
#include <mma.h>

#include "vgpu/tests/faults.cuh"

using namespace nvcuda;

__global__ void pass(float *out)
{
    __shared__ float early[256], late[2][256];
    const int t = threadIdx.x, warp = t / 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, (float)warp);
    if (warp == 0)
        wmma::store_matrix_sync(early, c, 16, wmma::mem_row_major);
    wmma::store_matrix_sync(late[warp], c, 16, wmma::mem_col_major);
    if (warp == 1)
        out[t] = early[t]; // expect: race_raw
    __syncthreads();
    out[t] = early[t] + late[1 - warp][t];
}

int main()
{
    Device<float> out(64);
    pass<<<1, 64>>>(out);
    return done(cudaSuccess);
}
