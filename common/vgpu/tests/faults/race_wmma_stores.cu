// Two warps store matrices whose last and first rows are the same. Then one of them loads a matrix
// that the other stores.
#include <mma.h>

#include "vgpu/tests/faults.cuh"

using namespace nvcuda;

__global__ void store(__half *out)
{
    __shared__ __half rows[31 * 24], both[256];
    const int t = threadIdx.x, warp = t / 32;
    for (int i = t; i < 256; i += 64)
        both[i] = __float2half(1);
    __syncthreads();
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> c;
    wmma::fill_fragment(c, __float2half(1.0f + (float)warp));
    wmma::store_matrix_sync(rows + warp * 15 * 24, c, 24, wmma::mem_row_major); // expect: race_waw
    __syncthreads();
    if (warp == 0)
        wmma::load_matrix_sync(c, both, 16, wmma::mem_row_major);
    else
        wmma::store_matrix_sync(both, c, 16, wmma::mem_col_major); // expect: race_war
    __syncthreads();
    out[t] = __hadd(rows[t % 16], c.x[0]);
}

int main()
{
    Device<__half> out(64);
    store<<<1, 64>>>(out);
    return done(cudaSuccess);
}
