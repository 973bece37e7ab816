// The last matrix that a warp loads has its last row past the end of shared memory.
#include <mma.h>

#include "vgpu/tests/faults.cuh"

using namespace nvcuda;

__global__ void load(float *out)
{
    extern __shared__ __half s[];
    for (int i = threadIdx.x; i < 16 * 40 - 24; i += 32)
        s[i] = __float2half(1);
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    wmma::load_matrix_sync(a, s, 40);
    wmma::load_matrix_sync(b, s + 8, 40); // expect: out_of_bounds
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}

int main()
{
    Device<float> out(256);
    load<<<1, 32, (16 * 40 - 24) * sizeof(__half)>>>(out);
    return done(cudaErrorIllegalAddress);
}
