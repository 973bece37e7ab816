/* Three parts of bfloat16 per number: six wmma products. A separate kernel splits the weights once;
 * windows are split while they are staged. */
#include "conv.h"
#include <cuda_bf16.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;
typedef __nv_bfloat16 bf16;

const int T = 16;    /* side of a matrix */
const int WARPS = 4; /* per block, each for T positions */

__device__ void parts_of(float v, bf16 part[3])
{
    for (int i = 0; i < 3; i++) {
        part[i] = __float2bfloat16(v);
        v -= __bfloat162float(part[i]);
    }
}

/* split[part][map][depth], both rounded up to T */
__global__ void split_weights(struct conv_shape s, const float *k, bf16 *split, int maps, int depth)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, rows = s.C * s.K * s.K;
    if (i >= maps * depth)
        return;
    const int m = i / depth, r = i % depth;
    bf16 part[3];
    parts_of(m < s.M && r < rows ? k[m * rows + r] : 0.0f, part);
    for (int j = 0; j < 3; j++)
        split[(size_t)j * maps * depth + i] = part[j];
}

__global__ void multiply(struct conv_shape s, const float *x, const bf16 *split, float *y, int maps,
                         int depth)
{
    __shared__ bf16 window[3][T][T * WARPS];
    __shared__ float out[T][T * WARPS];
    const int W_out = s.W - s.K + 1, all = (s.H - s.K + 1) * W_out, rows = s.C * s.K * s.K;
    const int first = blockIdx.x * T * WARPS, map = blockIdx.y * T, warp = threadIdx.x / 32;
    const int mine = first + threadIdx.x % (T * WARPS), h = mine / W_out, w = mine % W_out;
    const size_t image = (size_t)blockIdx.z * s.C * s.H * s.W;

    wmma::fragment<wmma::accumulator, T, T, T, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int r0 = 0; r0 < depth; r0 += T) {
        for (int i = threadIdx.x / (T * WARPS); i < T; i += blockDim.x / (T * WARPS)) {
            const int r = r0 + i, c = r / (s.K * s.K), p = r / s.K % s.K, q = r % s.K;
            bf16 part[3];
            parts_of(r < rows && mine < all ? x[image + ((size_t)c * s.H + h + p) * s.W + w + q]
                                            : 0.0f,
                     part);
            for (int j = 0; j < 3; j++)
                window[j][i][threadIdx.x % (T * WARPS)] = part[j];
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_b, T, T, T, bf16, wmma::row_major> b[3];
        for (int j = 0; j < 3; j++)
            wmma::load_matrix_sync(b[j], &window[j][0][warp * T], T * WARPS);
        for (int i = 2; i >= 0; i--) {
            wmma::fragment<wmma::matrix_a, T, T, T, bf16, wmma::row_major> a;
            wmma::load_matrix_sync(a, split + ((size_t)i * maps + map) * depth + r0, depth);
            for (int j = 2 - i; j >= 0; j--)
                wmma::mma_sync(sum, a, b[j], sum);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(&out[0][warp * T], sum, T * WARPS, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < T * T * WARPS; i += blockDim.x) {
        const int m = map + i / (T * WARPS), n = first + i % (T * WARPS);
        if (m < s.M && n < all)
            y[((size_t)blockIdx.z * s.M + m) * all + n] = out[i / (T * WARPS)][i % (T * WARPS)];
    }
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int all = (s->H - s->K + 1) * (s->W - s->K + 1), maps = (s->M + T - 1) / T * T;
    const int depth = (s->C * s->K * s->K + T - 1) / T * T;
    bf16 *split = (bf16 *)conv_workspace(3 * sizeof(bf16) * maps * depth);
    if (!split)
        return 1;
    split_weights<<<(maps * depth + 255) / 256, 256>>>(*s, k, split, maps, depth);
    multiply<<<dim3((all + T * WARPS - 1) / (T * WARPS), maps / T, s->B), 32 * WARPS>>>(
        *s, x, split, y, maps, depth);
    return cudaGetLastError() != cudaSuccess;
}
