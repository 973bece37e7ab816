/* Tiles in shared memory by means that only GPUs of compute capability 9.0 have, for m3: clusters. */
#include "m3.cuh"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

/* Two blocks of a cluster, one above the other: the upper one reads the rows of its lower halo from
 * the shared memory of the lower one. */
__global__ void __cluster_dims__(1, 2, 1)
    halo_of_neighbour(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float tile[];
    cg::cluster_group cluster = cg::this_cluster();
    const int b = blockIdx.z / M, m = blockIdx.z % M, h0 = blockIdx.y * 8, w0 = blockIdx.x * 32;
    const int wide = 32 + K - 1, rows = cluster.block_rank() == 0 && K <= 9 ? 8 : 8 + K - 1;
    const float *below = cluster.map_shared_rank(tile, 1);
    float sum = 0;
    for (int c = 0; c < C; c++) {
        for (int i = threadIdx.y * 32 + threadIdx.x; i < rows * wide; i += 256) {
            const int h = h0 + i / wide, w = w0 + i % wide;
            tile[i] = h < H && w < W ? X(b, c, h, w) : 0;
        }
        cluster.sync();
        for (int p = 0; p < K; p++) {
            const int row = threadIdx.y + p;
            const float *from = row < rows ? tile + row * wide : below + (row - 8) * wide;
            for (int q = 0; q < K; q++)
                sum += from[threadIdx.x + q] * KK(m, c, p, q);
        }
        cluster.sync();
    }
    const int h = h0 + threadIdx.y, w = w0 + threadIdx.x;
    if (h < H_out && w < W_out)
        Y(b, m, h, w) = sum;
}
/* expect: pass */
int cluster_halo(ARGUMENTS)
{
    const int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    const int bytes = (32 + s->K - 1) * (8 + s->K - 1) * (int)sizeof(float);
    cudaFuncSetAttribute(halo_of_neighbour, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    halo_of_neighbour<<<dim3((W_out + 31) / 32, (H_out + 15) / 16 * 2, s->B * s->M), dim3(32, 8),
                        bytes>>>(*s, x, k, y);
    return failed();
}
