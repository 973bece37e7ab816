/* wmma of the shape 32 x 8 x 16 on bfloat16 in three parts: 32 positions by 8 maps; A is
 * column-major (depth by positions, like im2col), B is column-major too (weights as stored); FFMA
 * computes the tail of the depth. */
#include "conv.h"
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;
typedef __nv_bfloat16 bf;

__device__ void three(float v, bf *a, bf *b, bf *c)
{
    *a = __float2bfloat16(v);
    v -= __bfloat162float(*a);
    *b = __float2bfloat16(v);
    *c = __float2bfloat16(v - __bfloat162float(*b));
}

__global__ void conv32x8(conv_shape s, const float *x, const float *k, float *y)
{
    __shared__ __align__(32) bf A[3][16][64], B[3][8][16];
    __shared__ __align__(32) float out[8][64];
    const int Wo = s.W - s.K + 1, P = (s.H - s.K + 1) * Wo, R = s.C * s.K * s.K,
              whole = (R + 15) / 16 * 16;
    const int n = blockIdx.x * 64 + threadIdx.x, m0 = blockIdx.y * 8, warp = threadIdx.x / 32;
    const float *image = x + (size_t)blockIdx.z * s.C * s.H * s.W;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> sum;
    wmma::fill_fragment(sum, 0.f);
    for (int r0 = 0; r0 < whole; r0 += 16) {
        for (int i = 0; i < 16; i++) {
            const int r = r0 + i;
            three(n < P && r < R ? image[(r / (s.K * s.K) * s.H + n / Wo + r / s.K % s.K) * s.W +
                                         n % Wo + r % s.K]
                                 : 0.f,
                  &A[0][i][threadIdx.x], &A[1][i][threadIdx.x], &A[2][i][threadIdx.x]);
        }
        for (int i = threadIdx.x; i < 128; i += 64) {
            const int m = m0 + i / 16, r = r0 + i % 16;
            three(m < s.M && r < R ? k[m * R + r] : 0.f, &B[0][i / 16][i % 16],
                  &B[1][i / 16][i % 16], &B[2][i / 16][i % 16]);
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 32, 8, 16, bf, wmma::col_major> a[3];
        wmma::fragment<wmma::matrix_b, 32, 8, 16, bf, wmma::col_major> b[3];
        for (int i = 0; i < 3; i++) {
            wmma::load_matrix_sync(a[i], &A[i][0][warp * 32], 64);
            wmma::load_matrix_sync(b[i], &B[i][0][0], 16);
        }
        wmma::mma_sync(sum, a[2], b[0], sum);
        wmma::mma_sync(sum, a[1], b[1], sum);
        wmma::mma_sync(sum, a[0], b[2], sum);
        wmma::mma_sync(sum, a[1], b[0], sum);
        wmma::mma_sync(sum, a[0], b[1], sum);
        wmma::mma_sync(sum, a[0], b[0], sum);
        __syncthreads();
    }
    wmma::store_matrix_sync(&out[0][warp * 32], sum, 64, wmma::mem_col_major);
    __syncthreads();
    for (int m = 0; m < 8; m++)
        if (m0 + m < s.M && n < P)
            y[((size_t)blockIdx.z * s.M + m0 + m) * P + n] = out[m][threadIdx.x];
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int P = (s->H - s->K + 1) * (s->W - s->K + 1);
    conv32x8<<<dim3((P + 63) / 64, (s->M + 7) / 8, s->B), 64>>>(*s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
