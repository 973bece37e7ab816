/* m5 with tensor cores: im2col writes the split matrix (two planes of halves) to the workspace, some images at
 * a time; the product loads its fragments from global memory. */
#include "conv.h"
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda::wmma;

#define SCALE 256.0f

__global__ void im2col(conv_shape s, const float *x, half *big, half *small, int depth,
                       size_t columns, size_t pitch)
{
    const int Ho = s.H - s.K + 1, Wo = s.W - s.K + 1;
    const size_t n = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    const int r = blockIdx.y;
    if (n >= pitch)
        return;
    float v = 0;
    if (n < columns && r < s.C * s.K * s.K) {
        const int c = r / (s.K * s.K), p = r / s.K % s.K, q = r % s.K;
        const int w = n % Wo, h = n / Wo % Ho;
        const size_t b = n / Wo / Ho;
        v = SCALE * x[((b * s.C + c) * s.H + h + p) * s.W + w + q];
    }
    const half h1 = __float2half(v);
    big[r * pitch + n] = h1;
    small[r * pitch + n] = __float2half(v - __half2float(h1));
}

__global__ void weights(conv_shape s, const float *k, half *big, half *small, int depth, int maps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, m = i / depth, r = i % depth;
    if (m >= maps)
        return;
    const float v = m < s.M && r < s.C * s.K * s.K ? SCALE * k[m * s.C * s.K * s.K + r] : 0.0f;
    big[i] = __float2half(v);
    small[i] = __float2half(v - __half2float(big[i]));
}

__global__ void product(conv_shape s, const half *ab, const half *as, const half *bb,
                        const half *bs, float *y, int depth, size_t columns, size_t pitch)
{
    __shared__ float tile[4][16][16];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const size_t n0 = ((size_t)blockIdx.x * 4 + warp) * 16;
    const int m0 = blockIdx.y * 16, P = (s.H - s.K + 1) * (s.W - s.K + 1);
    if (n0 >= pitch)
        return;
    fragment<accumulator, 16, 16, 16, float> acc;
    fill_fragment(acc, 0.f);
    fragment<matrix_a, 16, 16, 16, half, row_major> a1, a2;
    fragment<matrix_b, 16, 16, 16, half, row_major> b1, b2;
    for (int r = 0; r < depth; r += 16) {
        load_matrix_sync(a1, ab + m0 * depth + r, depth);
        load_matrix_sync(a2, as + m0 * depth + r, depth);
        load_matrix_sync(b1, bb + r * pitch + n0, pitch);
        load_matrix_sync(b2, bs + r * pitch + n0, pitch);
        mma_sync(acc, a2, b1, acc);
        mma_sync(acc, a1, b2, acc);
        mma_sync(acc, a1, b1, acc);
    }
    store_matrix_sync(&tile[warp][0][0], acc, 16, mem_row_major);
    __syncwarp();
    for (int i = lane; i < 256; i += 32) {
        const int m = m0 + i / 16;
        const size_t n = n0 + i % 16;
        if (m < s.M && n < columns)
            y[(n / P * s.M + m) * P + n % P] = tile[warp][i / 16][i % 16] / (SCALE * SCALE);
    }
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int P = (s->H - s->K + 1) * (s->W - s->K + 1),
              depth = (s->C * s->K * s->K + 15) / 16 * 16;
    const int maps = (s->M + 15) / 16 * 16;
    int images = s->B < 16 ? s->B : 16;
    half *room = NULL;
    for (; images > 0 && !room; images /= 2) {
        const size_t pitch = ((size_t)images * P + 15) / 16 * 16;
        room = (half *)conv_workspace(4 * ((size_t)maps * depth + depth * pitch));
        if (room)
            break;
    }
    if (!room)
        return 1;
    half *ab = room, *as = ab + maps * depth, *bb = as + maps * depth;
    weights<<<(maps * depth + 255) / 256, 256>>>(*s, k, ab, as, depth, maps);
    for (int b = 0; b < s->B; b += images) {
        const size_t columns = (size_t)(s->B - b < images ? s->B - b : images) * P,
                     pitch = (columns + 15) / 16 * 16;
        half *bs = bb + depth * pitch;
        im2col<<<dim3((pitch + 255) / 256, depth), 256>>>(*s, x + (size_t)b * s->C * s->H * s->W,
                                                          bb, bs, depth, columns, pitch);
        product<<<dim3((pitch + 63) / 64, maps / 16), 128>>>(
            *s, ab, as, bb, bs, y + (size_t)b * s->M * P, depth, columns, pitch);
    }
    return cudaGetLastError() != cudaSuccess;
}
