/* The joint tiling of the lecture: a thread owns one map and a row of 16 columns of the unrolled
 * matrix. It loads its weight from global memory into a register and uses it 16 times; the columns
 * are in shared memory, for the 64 maps of the block. */
#include "conv.h"

#define MAPS    64
#define COLUMNS 16
#define DEPTH   16

__global__ void joint_tiles(struct conv_shape s, const float *k, const float *x, float *y)
{
    __shared__ float columns[DEPTH][COLUMNS];
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1, rows = s.C * s.K * s.K;
    const int plane = H_out * W_out, n0 = blockIdx.x * COLUMNS;
    const int m = blockIdx.y * MAPS + threadIdx.x;
    const float *image = x + (size_t)blockIdx.z * s.C * s.H * s.W;
    float sum[COLUMNS] = {0};
    for (int r0 = 0; r0 < rows; r0 += DEPTH) {
        for (int i = threadIdx.x; i < DEPTH * COLUMNS; i += MAPS) {
            const int r = r0 + i / COLUMNS, n = n0 + i % COLUMNS;
            const int c = r / (s.K * s.K), p = r / s.K % s.K, q = r % s.K;
            columns[i / COLUMNS][i % COLUMNS] =
                r < rows && n < plane ? image[(c * s.H + n / W_out + p) * s.W + n % W_out + q] : 0;
        }
        __syncthreads();
        if (m < s.M)
            for (int r = 0; r < DEPTH && r0 + r < rows; r++) {
                const float weight = k[(size_t)m * rows + r0 + r];
#pragma unroll
                for (int j = 0; j < COLUMNS; j++)
                    sum[j] += weight * columns[r][j];
            }
        __syncthreads();
    }
    if (m < s.M)
        for (int j = 0; j < COLUMNS; j++)
            if (n0 + j < plane)
                y[((size_t)blockIdx.z * s.M + m) * plane + n0 + j] = sum[j];
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int plane = (s->H - s->K + 1) * (s->W - s->K + 1);
    dim3 grid((plane + COLUMNS - 1) / COLUMNS, (s->M + MAPS - 1) / MAPS, s->B);
    joint_tiles<<<grid, MAPS>>>(*s, k, x, y);
    return cudaGetLastError() != cudaSuccess;
}
