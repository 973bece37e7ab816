/* Submissions for m3 in the styles of other courses, and decoys. */
#include "m3.cuh"
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

/* Tile copied asynchronously, the next map's while this one is used. */
__global__ void two_stages(conv_shape shape, const float *x, const float *k, float *y)
{
    TILE_PLACE;
    auto fetch = [&](int c, float *to) {
        for (int i = t; i < side * side; i += 256)
            __pipeline_memcpy_async(
                to + i, &X(b, c, min(h0 + i / side, H - 1), min(w0 + i % side, W - 1)), 4);
        __pipeline_commit();
    };
    float sum = 0;
    fetch(0, s_x);
    for (int c = 0; c < C; c++) {
        float *const now = s_x + c % 2 * side * side;
        if (c + 1 < C)
            fetch(c + 1, s_x + (c + 1) % 2 * side * side);
        __pipeline_wait_prior(c + 1 < C);
        __syncthreads();
        for (int i = 0; i < K * K; i++)
            sum += now[(threadIdx.y + i / K) * side + threadIdx.x + i % K] * KK(m, c, 0, i);
        __syncthreads();
    }
    STORE(sum);
}
/* expect: pass */
SUBMISSION(two_stage_pipeline, TILE(two_stages, 2 * TILE_FLOATS))

/* Columns first in the tile, and weights of the map beside it. */
__global__ void column_tile(conv_shape shape, const float *x, const float *k, float *y)
{
    TILE_PLACE;
    namespace cg = cooperative_groups;
    cg::thread_block block = cg::this_thread_block();
    float *const s_k = s_x + side * (side + 1);
    float sum = 0;
    for (int c = 0; c < C; c++) {
        for (unsigned i = block.thread_rank(); i < side * side; i += block.size()) {
            const int r = i / side, q = i % side;
            s_x[q * (side + 1) + r] = h0 + r < H && w0 + q < W ? X(b, c, h0 + r, w0 + q) : 0.f;
        }
        for (unsigned i = block.thread_rank(); i < K * K; i += block.size())
            s_k[i] = KK(m, c, 0, i);
        block.sync();
        for (int q = 0; q < K; q++)
            for (int p = 0; p < K; p++)
                sum += s_x[(threadIdx.x + q) * (side + 1) + threadIdx.y + p] * s_k[p * K + q];
        block.sync();
    }
    STORE(sum);
}
/* expect: pass */
SUBMISSION(column_major_tile, TILE(column_tile, TILE_FLOATS + SIDE + s->K * s->K))

/* Tile of the whole row range of an image: blocks of 8 rows, all columns, K - 1 rows of halo. */
__global__ void bands(conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float band[];
    const int b = blockIdx.z, m = blockIdx.y, h0 = blockIdx.x * 8, rows = min(8, H_out - h0);
    float sum[16] = {};
    for (int c = 0; c < C; c++) {
        for (int i = threadIdx.x; i < (rows + K - 1) * W; i += blockDim.x)
            band[i] = (&X(b, c, h0, 0))[i];
        __syncthreads();
        for (int j = 0, i = threadIdx.x; i < rows * W_out; i += blockDim.x, j++)
            for (int t = 0; t < K * K; t++)
                sum[j] += band[(i / W_out + t / K) * W + i % W_out + t % K] * KK(m, c, 0, t);
        __syncthreads();
    }
    for (int j = 0, i = threadIdx.x; i < rows * W_out; i += blockDim.x, j++)
        Y(b, m, h0 + i / W_out, i % W_out) = sum[j];
}
/* expect: pass */
int bands_of_rows(ARGUMENTS)
{
    const size_t bytes = 4 * (size_t)(8 + s->K - 1) * s->W;
    if (bytes > 48 << 10 || s->W > 512 || s->B > 65535 || s->M > 65535)
        return launch_plain(s, x, k, y);
    bands<<<dim3((s->H - s->K + 8) / 8, s->M, s->B), 256, bytes>>>(*s, x, k, y);
    return failed();
}

/* Rows copied by memcpy() to an array of bytes, which nvcc copies as vectors of 4 bytes; the sum of
 * all input maps so far is in y. */
__global__ void copied_rows(conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ unsigned char bytes[];
    const float *const row = (const float *)bytes;
    const int h = blockIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y, b = blockIdx.z;
    for (int c = 0; c < C; c++) {
        for (int p = threadIdx.y; p < K; p += blockDim.y)
            for (int w = threadIdx.x; w < W; w += blockDim.x)
                memcpy(bytes + 4 * (p * W + w), &X(b, c, h + p, w), 4);
        __syncthreads();
        for (int w = threadIdx.x; m < M && w < W_out; w += blockDim.x) {
            float sum = c == 0 ? 0 : Y(b, m, h, w);
            for (int i = 0; i < K * K; i++)
                sum += row[i / K * W + w + i % K] * KK(m, c, 0, i);
            Y(b, m, h, w) = sum;
        }
        __syncthreads();
    }
}
/* expect: pass */
int rows_by_memcpy(ARGUMENTS)
{
    const size_t bytes = 4 * (size_t)s->K * s->W;
    if (bytes > 48 << 10 || s->B > 65535)
        return launch_plain(s, x, k, y);
    copied_rows<<<dim3(s->H - s->K + 1, (s->M + 7) / 8, s->B), dim3(32, 8), bytes>>>(*s, x, k, y);
    return failed();
}

/* ---- decoys ---- */

/* Each thread stages its own window and reads it twice, beside one element of its neighbour. */
__global__ void own_windows(conv_shape shape, const float *x, const float *k, float *y)
{
    TILE_PLACE;
    float sum = 0, other = 0;
    float *const mine = s_x + t;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++) {
            *mine = h < H_out && w < W_out ? X(b, c, h + i / K, w + i % K) : 0.f;
            __syncthreads();
            sum += *mine * KK(m, c, 0, i);
            other += s_x[t ^ 1] * KK(m, c, 0, i);
            __syncthreads();
        }
    STORE(other == 1e30f ? other : sum);
}
/* expect: elements of each input map were loaded from global memory */
SUBMISSION(windows_of_their_own, TILE(own_windows, 256))
