// Loads matrices of which one element was never written. Gaps between rows are never written, which
// is right.
#include <mma.h>

#include "vgpu/tests/faults.cuh"

using namespace nvcuda;

__global__ void load(const __half *a, float *out)
{
    __shared__ __half b[16 * 24];
    for (int i = threadIdx.x; i < 16 * 24; i += 32)
        if (i % 24 < 16 && i != 3 * 24 + 7)
            b[i] = __float2half(1);
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, 24); // expect: uninitialised
    wmma::load_matrix_sync(fb, b, 24); // expect: uninitialised
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(out, fc, 16, wmma::mem_row_major);
}

__global__ void fill(__half *a)
{
    const int i = threadIdx.x;
    if (i % 24 < 16 && i != 14 * 24 + 1)
        a[i] = __float2half(1);
}

int main()
{
    Device<__half> a(16 * 24);
    Device<float> out(256);
    fill<<<1, 16 * 24>>>(a);
    load<<<1, 32>>>(a, out);
    return done(cudaSuccess);
}
