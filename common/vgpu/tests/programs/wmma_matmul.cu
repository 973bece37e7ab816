// Tensor cores through wmma: half in, float accumulation, one warp per 16x16 tile.
#include <cuda_fp16.h>
#include <mma.h>

#include "vgpu/tests/check.cuh"

using namespace nvcuda;

__global__ void matmul(const __half *a, const __half *b, float *c, int N, int K)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    int row = blockIdx.y * 16, col = blockIdx.x * 16;
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(fa, a + row * K + k, K);
        wmma::load_matrix_sync(fb, b + col * K + k, K);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] *= 2;
    wmma::store_matrix_sync(c + row * N + col, fc, N, wmma::mem_row_major);
}

int main()
{
    const int M = 32, N = 48, K = 64;
    Random random(16);
    std::vector<__half> a(M * K), b(N * K);
    std::vector<float> fa(M * K), fb(N * K);
    for (int i = 0; i < M * K; i++)
        a[i] = __float2half(fa[i] = random.exact());
    for (int i = 0; i < N * K; i++)
        b[i] = __float2half(fb[i] = random.exact());
    Device<__half> da(a), db(b);
    Device<float> dc(M * N);
    matmul<<<dim3(N / 16, M / 16), 32>>>(da, db, dc, N, K);
    LAUNCHED();
    std::vector<float> c = dc.host();
    bool ok = true;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++)
                sum += fa[i * K + k] * fb[j * K + k];
            ok &= c[i * N + j] == 2 * sum;
        }
    return verdict("wmma_matmul", ok, c);
}
