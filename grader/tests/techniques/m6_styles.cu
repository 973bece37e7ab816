/* More fused products, for m6. */
#include "gemm.cuh"
#include <cuda_pipeline.h>
/* table of offsets in shared memory, register prefetch */
__global__ void offsets(struct conv_shape shape, const float *__restrict__ x,
                        const float *__restrict__ k, float *__restrict__ y)
{
    SIZES;
    __shared__ float s_k[8][64], s_u[8][64];
    __shared__ int s_at[8];
    const int rows = C * K * K, t = threadIdx.x;
    const size_t cols = (size_t)B * H_out * W_out, c0 = (size_t)blockIdx.x * 64;
    float sum[8][4] = {};
    const int m0 = blockIdx.y * 64;
    const size_t mine = min(c0 + t % 64, cols - 1);
    const float *from = &X(mine / W_out / H_out, 0, mine / W_out % H_out, mine % W_out);
    for (int r0 = 0; r0 < rows; r0 += 8) {
        if (t < 8) {
            const int r = min(r0 + t, rows - 1);
            s_at[t] = (r / (K * K) * H + r / K % K) * W + r % K;
        }
        __syncthreads();
        for (int r = t / 64; r < 8; r += 2)
            s_u[r][t % 64] = from[s_at[r]];
        for (int i = t; i < 512; i += 128)
            s_k[i % 8][i / 8] =
                m0 + i / 8 < M && r0 + i % 8 < rows ? k[(m0 + i / 8) * rows + r0 + i % 8] : 0;
        __syncthreads();
        for (int r = 0; r < 8; r++) {
            float a[8], v[4];
            for (int i = 0; i < 8; i++)
                a[i] = s_k[r][t / 16 * 8 + i];
            for (int j = 0; j < 4; j++)
                v[j] = s_u[r][t % 16 + 16 * j];
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] = fmaf(a[i], v[j], sum[i][j]);
        }
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++) {
            const int m = m0 + t / 16 * 8 + i;
            const size_t col = c0 + t % 16 + 16 * j;
            if (m < M && col < cols)
                Y(col / W_out / H_out, m, 0, col % ((size_t)W_out * H_out)) = sum[i][j];
        }
}
/* expect: pass */
SUBMISSION_LAUNCH(offset_table,
                  offsets<<<dim3((columns(s) + 63) / 64, (s->M + 63) / 64), 128>>>(*s, x, k, y))
/* image in z, 2D tile, lambda element */
template <int T, typename E> __device__ float product(const float *k, int M, int rows, int m, E u)
{
    __shared__ float s_k[T][T + 1], s_u[T][T];
    float sum = 0;
    for (int r0 = 0; r0 < rows; r0 += T) {
        s_k[threadIdx.y][threadIdx.x] =
            m < M && r0 + (int)threadIdx.x < rows ? k[m * rows + r0 + threadIdx.x] : 0;
        s_u[threadIdx.y][threadIdx.x] = u(r0 + threadIdx.y);
        __syncthreads();
#pragma unroll
        for (int r = 0; r < T; r++)
            sum += s_k[threadIdx.y][r] * s_u[r][threadIdx.x];
        __syncthreads();
    }
    return sum;
}
__global__ void by_lambda(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int b = blockIdx.z, col = blockIdx.x * 16 + threadIdx.x,
              m = blockIdx.y * 16 + threadIdx.y;
    const float sum = product<16>(k, M, C * K * K, m, [=](int r) {
        return r < C * K * K && col < H_out * W_out
                   ? X(b, r / (K * K), col / W_out + r / K % K, col % W_out + r % K)
                   : 0.0f;
    });
    if (m < M && col < H_out * W_out)
        Y(b, m, 0, col) = sum;
}
/* expect: pass */
int lambda_element(ARGUMENTS)
{
    by_lambda<<<dim3(((s->H - s->K + 1) * (s->W - s->K + 1) + 15) / 16, (s->M + 15) / 16, s->B),
                dim3(16, 16)>>>(*s, x, k, y);
    return failed();
}
/* cp.async gather, 3 stages */
__global__ void stages(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float s_k[3][16][16], s_u[3][16][16];
    const int rows = C * K * K, ty = threadIdx.y, tx = threadIdx.x, m = blockIdx.y * 16 + ty;
    const size_t cols = (size_t)B * H_out * W_out, col = (size_t)blockIdx.x * 16 + tx;
    float sum = 0;
    const int steps = (rows + 15) / 16;
    auto fetch = [&](int i) {
        const int r = i * 16 + ty, z = i * 16 + tx;
        if (i < steps) {
            if (r < rows && col < cols)
                __pipeline_memcpy_async(&s_u[i % 3][ty][tx],
                                        &X(col / W_out / H_out, r / (K * K),
                                           col / W_out % H_out + r / K % K, col % W_out + r % K),
                                        4);
            else
                s_u[i % 3][ty][tx] = 0;
            if (m < M && z < rows)
                __pipeline_memcpy_async(&s_k[i % 3][ty][tx], &k[m * rows + z], 4);
            else
                s_k[i % 3][ty][tx] = 0;
        }
        __pipeline_commit();
    };
    fetch(0);
    fetch(1);
    for (int i = 0; i < steps; i++) {
        __pipeline_wait_prior(1);
        __syncthreads();
        fetch(i + 2);
        for (int r = 0; r < 16; r++)
            sum += s_k[i % 3][ty][r] * s_u[i % 3][r][tx];
    }
    if (m < M && col < cols)
        Y(col / W_out / H_out, m, 0, col % ((size_t)W_out * H_out)) = sum;
}
/* expect: pass */
SUBMISSION_LAUNCH(three_stages, stages<<<product_tiles(s), dim3(16, 16)>>>(*s, x, k, y))
/* clears y first with memset (harmless), splits the batch into two launches of the kernel */
/* expect: pass */
int split_batch(ARGUMENTS)
{
    const int half = (s->B + 1) / 2;
    int bad = 0;
    for (int b = 0; b < s->B; b += half) {
        struct conv_shape some = *s;
        some.B = min(half, s->B - b);
        bad |= launch_multiply<true>(&some, x + (size_t)b * s->C * s->H * s->W, k,
                                     y + (size_t)b * s->M * (s->H - s->K + 1) * (s->W - s->K + 1));
    }
    return bad;
}
/* a kernel transposes the weights first (works only on k) */
__global__ void transpose(const float *k, float *to, int M, int rows)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < M * rows)
        to[i % rows * M + i / rows] = k[i];
}
__global__ void with_transposed(struct conv_shape shape, const float *x, const float *kt, float *y)
{
    SIZES;
    __shared__ float s_k[16][16], s_u[16][16];
    const int ty = threadIdx.y, tx = threadIdx.x, m = blockIdx.y * 16 + ty, rows = C * K * K;
    const size_t cols = (size_t)B * H_out * W_out, col = (size_t)blockIdx.x * 16 + tx;
    float sum = 0;
    for (int r0 = 0; r0 < rows; r0 += 16) {
        s_k[ty][tx] = r0 + ty < rows && blockIdx.y * 16 + tx < M
                          ? kt[(r0 + ty) * M + blockIdx.y * 16 + tx]
                          : 0;
        s_u[ty][tx] = element<true>(shape, x, cols, r0 + ty, col);
        __syncthreads();
        for (int r = 0; r < 16; r++)
            sum += s_k[r][ty] * s_u[r][tx];
        __syncthreads();
    }
    if (m < M && col < cols)
        Y(col / W_out / H_out, m, 0, col % ((size_t)W_out * H_out)) = sum;
}
/* expect: pass */
int weights_transposed(ARGUMENTS)
{
    const int rows = s->C * s->K * s->K;
    float *kt = floats((size_t)s->M * rows);
    transpose<<<(s->M * rows + 127) / 128, 128>>>(k, kt, s->M, rows);
    with_transposed<<<product_tiles(s), dim3(16, 16)>>>(*s, x, kt, y);
    return failed();
}
/* clears y with a kernel */
__global__ void zero(float *y, size_t n)
{
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        y[i] = 0;
}
/* expect: pass */
int clears_first(ARGUMENTS)
{
    const size_t n = columns(s) * s->M;
    zero<<<(n + 255) / 256, 256>>>(y, n);
    return launch_multiply<true>(s, x, k, y);
}
/* rows in the order (p, q, c): the channels of one tap are neighbours */
__global__ void channels_last(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float s_k[12][16], s_u[12][32];
    const int tx = threadIdx.x % 32, ty = threadIdx.x / 32, m0 = blockIdx.y * 16;
    const size_t cols = (size_t)B * H_out * W_out, col = (size_t)blockIdx.x * 32 + tx;
    float sum[4] = {};
    for (int pq = 0; pq < K * K; pq++)
        for (int c0 = 0; c0 < C; c0 += 12) {
            for (int i = ty; i < 12; i += 4)
                s_u[i][tx] = c0 + i < C && col < cols
                                 ? X(col / W_out / H_out, c0 + i, col / W_out % H_out + pq / K,
                                     col % W_out + pq % K)
                                 : 0;
            for (int i = threadIdx.x; i < 192; i += 128)
                s_k[i / 16][i % 16] =
                    c0 + i / 16 < C && m0 + i % 16 < M ? KK(m0 + i % 16, c0 + i / 16, 0, pq) : 0;
            __syncthreads();
            for (int r = 0; r < 12; r++)
                for (int j = 0; j < 4; j++)
                    sum[j] += s_k[r][4 * ty + j] * s_u[r][tx];
            __syncthreads();
        }
    for (int j = 0; j < 4; j++)
        if (m0 + 4 * ty + j < M && col < cols)
            Y(col / W_out / H_out, m0 + 4 * ty + j, 0, col % ((size_t)W_out * H_out)) = sum[j];
}
/* expect: pass */
int rows_by_channel_last(ARGUMENTS)
{
    channels_last<<<dim3((columns(s) + 31) / 32, (s->M + 15) / 16), 128>>>(*s, x, k, y);
    return failed();
}
/* a patch of x in shared memory, unrolled into another tile there, channel by channel */
__global__ void two_levels(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s_all[];
    float *s_x = s_all, *s_u = s_x + K * (32 + K - 1), *s_k = s_u + K * K * 32;
    const int tx = threadIdx.x, ty = threadIdx.y, h = blockIdx.y, w0 = blockIdx.x * 32;
    const int b = blockIdx.z, pitch = 32 + K - 1, id = ty * 32 + tx;
    float sum[16] = {};
    for (int c = 0; c < C; c++) {
        for (int i = id; i < K * pitch; i += 128)
            s_x[i] = X(b, c, h + i / pitch, min(w0 + i % pitch, W - 1));
        for (int i = id; i < M * K * K; i += 128)
            s_k[i] = KK(i / (K * K), c, 0, i % (K * K));
        __syncthreads();
        for (int i = id; i < K * K * 32; i += 128)
            s_u[i] = s_x[i / 32 / K * pitch + i / 32 % K + i % 32];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            for (int r = 0; r < K * K && ty + 4 * j < M; r++)
                sum[j] += s_k[(ty + 4 * j) * K * K + r] * s_u[r * 32 + tx];
        __syncthreads();
    }
    for (int j = 0; j < 16; j++)
        if (ty + 4 * j < M && w0 + tx < W_out)
            Y(b, ty + 4 * j, h, w0 + tx) = sum[j];
}
/* expect: pass */
int unrolled_from_a_patch(ARGUMENTS)
{
    const size_t bytes = 4 * (s->K * (31 + s->K) + 32 * s->K * s->K + s->M * s->K * s->K);
    if (bytes > 48 << 10 || s->M > 64)
        return launch_multiply<true>(s, x, k, y);
    two_levels<<<dim3((s->W - s->K + 32) / 32, s->H - s->K + 1, s->B), dim3(32, 4), bytes>>>(*s, x,
                                                                                             k, y);
    return failed();
}
