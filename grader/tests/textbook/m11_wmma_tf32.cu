/* wmma in TF32: 64 positions of an image by 16 maps per block, 16 positions per warp; tiles of the
 * unrolled matrix and of the weights in shared memory, split there into two numbers of TF32. */
#include "conv.h"
#include <mma.h>

using namespace nvcuda::wmma;

#define COLS  64
#define MAPS  16
#define DEPTH 24

typedef fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> Weights;
typedef fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> Windows;

template <class F> __device__ void split(F &big, F &small)
{
    for (int i = 0; i < big.num_elements; i++) {
        float v = big.x[i];
        big.x[i] = __float_to_tf32(v);
        small.x[i] = __float_to_tf32(v - big.x[i]);
    }
}

__global__ void conv_wmma(struct conv_shape s, const float *x, const float *k, float *y)
{
    __shared__ float windows[DEPTH][COLS], weights[MAPS][DEPTH], result[MAPS][COLS];
    int W_out = s.W - s.K + 1, positions = (s.H - s.K + 1) * W_out, rows = s.C * s.K * s.K;
    int n0 = blockIdx.x * COLS, m0 = blockIdx.y * MAPS, warp = threadIdx.x / 32;
    const float *image = x + (size_t)blockIdx.z * s.C * s.H * s.W;

    fragment<accumulator, 16, 16, 8, float> sum;
    fill_fragment(sum, 0.0f);
    for (int r0 = 0; r0 < rows; r0 += DEPTH) {
        for (int i = threadIdx.x; i < DEPTH * COLS; i += blockDim.x) {
            int r = r0 + i / COLS, n = n0 + i % COLS;
            int c = r / (s.K * s.K), p = r / s.K % s.K, q = r % s.K;
            windows[i / COLS][i % COLS] =
                r < rows && n < positions ? image[(c * s.H + n / W_out + p) * s.W + n % W_out + q]
                                          : 0.0f;
        }
        for (int i = threadIdx.x; i < MAPS * DEPTH; i += blockDim.x) {
            int m = m0 + i / DEPTH, r = r0 + i % DEPTH;
            weights[i / DEPTH][i % DEPTH] = m < s.M && r < rows ? k[m * rows + r] : 0.0f;
        }
        __syncthreads();
        for (int d = 0; d < DEPTH; d += 8) {
            Weights a, a_small;
            Windows b, b_small;
            load_matrix_sync(a, &weights[0][d], DEPTH);
            load_matrix_sync(b, &windows[d][warp * 16], COLS);
            split(a, a_small);
            split(b, b_small);
            mma_sync(sum, a_small, b, sum);
            mma_sync(sum, a, b_small, sum);
            mma_sync(sum, a, b, sum);
        }
        __syncthreads();
    }
    store_matrix_sync(&result[0][warp * 16], sum, COLS, mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < MAPS * COLS; i += blockDim.x) {
        int m = m0 + i / COLS, n = n0 + i % COLS;
        if (m < s.M && n < positions)
            y[((size_t)blockIdx.z * s.M + m) * positions + n] = result[i / COLS][i % COLS];
    }
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    int positions = (s->H - s->K + 1) * (s->W - s->K + 1);
    dim3 grid((positions + COLS - 1) / COLS, (s->M + MAPS - 1) / MAPS, s->B);
    conv_wmma<<<grid, 128>>>(*s, x, k, y);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
