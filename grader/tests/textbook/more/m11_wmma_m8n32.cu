/* wmma on halves, 8 maps x 32 positions a warp: a layer with few maps wastes less. Numbers are scaled by 512 and
 * split into two halves; tiles are split while they are staged, so that fragments are loaded ready. */
#include "conv.h"
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

#define WARPS 4
#define DEPTH 16
#define SCALE 512.0f

__global__ void conv_tiles(conv_shape s, const float *x, const float *k, float *y)
{
    __shared__ half kernel_big[8][DEPTH], kernel_small[8][DEPTH];
    __shared__ half window_big[WARPS][DEPTH][32], window_small[WARPS][DEPTH][32];
    __shared__ float out[WARPS][8][32];
    const int Wo = s.W - s.K + 1, plane = (s.H - s.K + 1) * Wo, R = s.C * s.K * s.K;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, m0 = blockIdx.y * 8;
    const int n = (blockIdx.x * WARPS + warp) * 32 + lane;
    const float *image = x + (size_t)blockIdx.z * s.C * s.H * s.W;

    wmma::fragment<wmma::accumulator, 8, 32, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int r0 = 0; r0 < R; r0 += DEPTH) {
        const int m = m0 + threadIdx.x / DEPTH, rk = r0 + threadIdx.x % DEPTH;
        const float weight = m < s.M && rk < R ? k[(size_t)m * R + rk] * SCALE : 0.0f;
        const half big = __float2half(weight);
        kernel_big[threadIdx.x / DEPTH][threadIdx.x % DEPTH] = big;
        kernel_small[threadIdx.x / DEPTH][threadIdx.x % DEPTH] =
            __float2half(weight - __half2float(big));
        for (int i = 0; i < DEPTH; i++) {
            const int r = r0 + i, c = r / (s.K * s.K), p = r / s.K % s.K, q = r % s.K;
            float v = 0.0f;
            if (r < R && n < plane)
                v = image[(c * s.H + n / Wo + p) * s.W + n % Wo + q] * SCALE;
            window_big[warp][i][lane] = __float2half(v);
            window_small[warp][i][lane] = __float2half(v - __half2float(window_big[warp][i][lane]));
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 8, 32, 16, half, wmma::row_major> a, a_small;
        wmma::fragment<wmma::matrix_b, 8, 32, 16, half, wmma::row_major> b, b_small;
        wmma::load_matrix_sync(a, &kernel_big[0][0], DEPTH);
        wmma::load_matrix_sync(a_small, &kernel_small[0][0], DEPTH);
        wmma::load_matrix_sync(b, &window_big[warp][0][0], 32);
        wmma::load_matrix_sync(b_small, &window_small[warp][0][0], 32);
        wmma::mma_sync(sum, a_small, b, sum);
        wmma::mma_sync(sum, a, b_small, sum);
        wmma::mma_sync(sum, a, b, sum);
        __syncthreads();
    }
    wmma::store_matrix_sync(&out[warp][0][0], sum, 32, wmma::mem_row_major);
    __syncwarp();
    for (int i = 0; i < 8; i++)
        if (m0 + i < s.M && n < plane)
            y[((size_t)blockIdx.z * s.M + m0 + i) * plane + n] =
                out[warp][i][lane] * (1.0f / SCALE / SCALE);
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int plane = (s->H - s->K + 1) * (s->W - s->K + 1), per = 32 * WARPS;
    conv_tiles<<<dim3((plane + per - 1) / per, (s->M + 7) / 8, s->B), per>>>(*s, x, k, y);
    return cudaGetLastError() != cudaSuccess;
}
