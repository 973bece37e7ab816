/* More unrolled matrices for m5: other layouts, copies ahead, tensor cores, streams. */
#include "gemm.cuh"
#include "tensor.cuh"
#include <cuda_pipeline.h>
/* transposed: a row per output, depth innermost; padded */
__global__ void unroll_t(struct conv_shape shape, const float *x, float *u, int pitch)
{
    SIZES;
    const size_t cols = (size_t)B * H_out * W_out, i = (size_t)blockIdx.x * 128 + threadIdx.x;
    if (i >= cols * pitch)
        return;
    const size_t col = i / pitch;
    const int row = i % pitch;
    float v = 0;
    if (row < C * K * K)
        v = X(col / W_out / H_out, row / (K * K), col / W_out % H_out + row / K % K,
              col % W_out + row % K);
    u[i] = v;
}
__global__ void multiply_t(struct conv_shape shape, const float *u, const float *k, float *y,
                           int pitch)
{
    SIZES;
    __shared__ float s_k[16][17], s_u[16][17];
    const int m = blockIdx.y * 16 + threadIdx.y, rows = C * K * K;
    const size_t cols = (size_t)B * H_out * W_out, c0 = (size_t)blockIdx.x * 16,
                 col = c0 + threadIdx.x;
    float sum = 0;
    for (int r0 = 0; r0 < pitch; r0 += 16) {
        s_k[threadIdx.y][threadIdx.x] =
            m < M && r0 + threadIdx.x < rows ? k[m * rows + r0 + threadIdx.x] : 0;
        s_u[threadIdx.y][threadIdx.x] =
            c0 + threadIdx.y < cols ? u[(c0 + threadIdx.y) * pitch + r0 + threadIdx.x] : 0;
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 16; r++)
            sum += s_k[threadIdx.y][r] * s_u[threadIdx.x][r];
        __syncthreads();
    }
    if (m < M && col < cols)
        Y(col / W_out / H_out, m, 0, col % ((size_t)W_out * H_out)) = sum;
}
/* expect: pass */
int transposed_padded(ARGUMENTS)
{
    const int pitch = (s->C * s->K * s->K + 15) / 16 * 16;
    const size_t cols = columns(s);
    float *u = floats(cols * pitch);
    unroll_t<<<(cols * pitch + 127) / 128, 128>>>(*s, x, u, pitch);
    multiply_t<<<product_tiles(s), dim3(16, 16)>>>(*s, u, k, y, pitch);
    return failed();
}
/* 4x4 register tiles, double buffered with cp.async */
__global__ void multiply_async(struct conv_shape shape, const float *u, const float *k, float *y)
{
    SIZES;
    __shared__ float s_k[2][8][32], s_u[2][8][64];
    const int rows = C * K * K, t = threadIdx.x, m0 = blockIdx.y * 32;
    const size_t cols = (size_t)B * H_out * W_out, c0 = (size_t)blockIdx.x * 64;
    float sum[4][4] = {};
    auto fetch = [&](int r0, int b) {
        for (int i = t; i < 8 * 32; i += 128) {
            const int r = i / 32, m = i % 32;
            if (r0 + r < rows && m0 + m < M)
                __pipeline_memcpy_async(&s_k[b][r][m], &k[(m0 + m) * rows + r0 + r], 4);
            else
                s_k[b][r][m] = 0;
        }
        for (int i = t; i < 8 * 64; i += 128) {
            const int r = i / 64, o = i % 64;
            if (r0 + r < rows && c0 + o < cols)
                __pipeline_memcpy_async(&s_u[b][r][o], &u[(r0 + r) * cols + c0 + o], 4);
            else
                s_u[b][r][o] = 0;
        }
        __pipeline_commit();
    };
    fetch(0, 0);
    for (int r0 = 0, b = 0; r0 < rows; r0 += 8, b ^= 1) {
        if (r0 + 8 < rows)
            fetch(r0 + 8, b ^ 1);
        else
            __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int r = 0; r < 8; r++) {
            float a[4], v[4];
            for (int i = 0; i < 4; i++)
                a[i] = s_k[b][r][t / 16 * 4 + i], v[i] = s_u[b][r][t % 16 * 4 + i];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += a[i] * v[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const int m = m0 + t / 16 * 4 + i;
            const size_t col = c0 + t % 16 * 4 + j;
            if (m < M && col < cols)
                Y(col / W_out / H_out, m, 0, col % ((size_t)W_out * H_out)) = sum[i][j];
        }
}
/* expect: pass */
int async_double_buffer(ARGUMENTS)
{
    const size_t c = columns(s);
    float *u = launch_unroll(s, x);
    multiply_async<<<dim3((c + 63) / 64, (s->M + 31) / 32), 128>>>(*s, u, k, y);
    return failed();
}
/* unrolled through shared memory, one thread per window; y goes to a scratch matrix [M][cols] and
 * is then permuted */
__global__ void unroll_window(struct conv_shape shape, const float *x, float *u)
{
    SIZES;
    const size_t cols = (size_t)B * H_out * W_out, i = (size_t)blockIdx.x * 128 + threadIdx.x;
    if (i >= cols * C)
        return;
    const int c = i / cols;
    const size_t col = i % cols;
    const int b = col / W_out / H_out, h = col / W_out % H_out, w = col % W_out;
    for (int p = 0; p < K; p++)
        for (int q = 0; q < K; q++)
            u[(size_t)((c * K + p) * K + q) * cols + col] = X(b, c, h + p, w + q);
}
__global__ void mult_plain(const float *u, const float *k, float *out, int M, int rows, size_t cols)
{
    __shared__ float s_k[16][16], s_u[16][16];
    const int m = blockIdx.y * 16 + threadIdx.y;
    const size_t col = (size_t)blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int r0 = 0; r0 < rows; r0 += 16) {
        s_k[threadIdx.y][threadIdx.x] =
            m < M && r0 + threadIdx.x < rows ? k[m * rows + r0 + threadIdx.x] : 0;
        s_u[threadIdx.y][threadIdx.x] =
            r0 + threadIdx.y < rows && col < cols ? u[(size_t)(r0 + threadIdx.y) * cols + col] : 0;
        __syncthreads();
        for (int r = 0; r < 16; r++)
            sum += s_k[threadIdx.y][r] * s_u[r][threadIdx.x];
        __syncthreads();
    }
    if (m < M && col < cols)
        out[m * cols + col] = sum;
}
__global__ void permute(struct conv_shape shape, const float *from, float *y)
{
    SIZES;
    const size_t cols = (size_t)B * H_out * W_out, i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i >= cols * M)
        return;
    const int m = i / cols;
    const size_t col = i % cols;
    Y(col / W_out / H_out, m, 0, col % ((size_t)W_out * H_out)) = from[i];
}
/* expect: pass */
int permuted_result(ARGUMENTS)
{
    const size_t c = columns(s);
    const int rows = s->C * s->K * s->K;
    float *u = floats(c * rows + c * s->M), *out = u + c * rows;
    unroll_window<<<(c * s->C + 127) / 128, 128>>>(*s, x, u);
    mult_plain<<<product_tiles(s), dim3(16, 16)>>>(u, k, out, s->M, rows, c);
    permute<<<(c * s->M + 255) / 256, 256>>>(*s, out, y);
    return failed();
}
/* images in two streams with a buffer each */
/* expect: pass */
int two_streams(ARGUMENTS)
{
    cudaStream_t st[2];
    struct conv_shape one = *s;
    one.B = 1;
    const size_t c = columns(&one), n = c * s->C * s->K * s->K;
    const int rows = s->C * s->K * s->K;
    float *u = floats(2 * n);
    for (int i = 0; i < 2; i++)
        cudaStreamCreateWithFlags(&st[i], cudaStreamNonBlocking);
    for (int b = 0; b < s->B; b++) {
        float *mine = u + b % 2 * n;
        unroll<<<(n + 127) / 128, 128, 0, st[b % 2]>>>(one, x + (size_t)b * s->C * s->H * s->W,
                                                       mine);
        mult_plain<<<product_tiles(&one), dim3(16, 16), 0, st[b % 2]>>>(
            mine, k, y + (size_t)b * s->M * c, s->M, rows, c);
    }
    for (int i = 0; i < 2; i++)
        cudaStreamSynchronize(st[i]), cudaStreamDestroy(st[i]);
    return failed();
}
/* 3xTF32 on tensor cores from shared tiles */
__global__ void tensor(struct conv_shape shape, const float *u, const float *k, float *y)
{
    using namespace nvcuda::wmma;
    SIZES;
    __shared__ float s_k[16 * 8], s_u[8 * 16], s_y[256];
    const int rows = C * K * K, m0 = blockIdx.y * 16;
    const size_t cols = (size_t)B * H_out * W_out, c0 = (size_t)blockIdx.x * 16;
    fragment<accumulator, 16, 16, 8, float> sum;
    fill_fragment(sum, 0.0f);
    for (int r0 = 0; r0 < rows; r0 += 8) {
        __syncthreads();
        for (int i = threadIdx.x; i < 128; i += 32) {
            s_k[i] = m0 + i / 8 < M && r0 + i % 8 < rows ? k[(m0 + i / 8) * rows + r0 + i % 8] : 0;
            s_u[i] = r0 + i / 16 < rows && c0 + i % 16 < cols
                         ? u[(size_t)(r0 + i / 16) * cols + c0 + i % 16]
                         : 0;
        }
        __syncthreads();
        multiply_in_three(s_k, s_u, sum);
    }
    store_matrix_sync(s_y, sum, 16, mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32) {
        const int m = m0 + i / 16;
        const size_t col = c0 + i % 16;
        if (m < M && col < cols)
            Y(col / W_out / H_out, m, 0, col % ((size_t)W_out * H_out)) = s_y[i];
    }
}
/* expect: pass */
int tensor_cores(ARGUMENTS)
{
    const size_t c = columns(s);
    float *u = launch_unroll(s, x);
    tensor<<<product_tiles(s), 32>>>(*s, u, k, y);
    return failed();
}
/* allocates and frees the matrix itself, for as many images as fit */
/* expect: pass */
int own_allocation(ARGUMENTS)
{
    const int most = 3;
    float *u;
    struct conv_shape some = *s;
    some.B = s->B < most ? s->B : most;
    if (cudaMalloc(&u, columns(&some) * s->C * s->K * s->K * 4))
        return 1;
    for (int b = 0; b < s->B; b += most) {
        some.B = min(most, s->B - b);
        const size_t c = columns(&some), n = c * s->C * s->K * s->K;
        unroll<<<(n + 127) / 128, 128>>>(some, x + (size_t)b * s->C * s->H * s->W, u);
        multiply<false><<<product_tiles(&some), dim3(16, 16)>>>(
            some, u, k, y + (size_t)b * s->M * (s->H - s->K + 1) * (s->W - s->K + 1));
    }
    cudaDeviceSynchronize();
    cudaFree(u);
    return failed();
}
/* one image at a time, in memory that is kept and grows */
static int unroll_each(ARGUMENTS, float *u)
{
    struct conv_shape one = *s;
    one.B = 1;
    const size_t c = columns(&one), n = c * s->C * s->K * s->K;
    for (int b = 0; b < s->B; b++) {
        unroll<<<(n + 127) / 128, 128>>>(one, x + (size_t)b * s->C * s->H * s->W, u);
        multiply<false><<<product_tiles(&one), dim3(16, 16)>>>(one, u, k, y + b * c * s->M);
    }
    return failed();
}
/* expect: pass */
int static_memory_grows(ARGUMENTS)
{
    static float *u;
    static size_t room;
    const size_t n = (size_t)(s->H - s->K + 1) * (s->W - s->K + 1) * s->C * s->K * s->K;
    if (n > room) {
        cudaFree(u);
        room = cudaMalloc(&u, n * 4) ? 0 : n;
    }
    return n > room || unroll_each(s, x, k, y, u);
}
/* expect: pass */
int allocated_on_a_stream(ARGUMENTS)
{
    float *u;
    const size_t n = (size_t)(s->H - s->K + 1) * (s->W - s->K + 1) * s->C * s->K * s->K;
    if (cudaMallocAsync(&u, n * 4, 0))
        return 1;
    const int bad = unroll_each(s, x, k, y, u);
    cudaFreeAsync(u, 0);
    return bad;
}
/* a kernel also transposes the weights; unrolls with float4 stores */
__global__ void unroll4(struct conv_shape shape, const float *x, float4 *u, size_t quads)
{
    SIZES;
    const size_t cols = (size_t)B * H_out * W_out, i = (size_t)blockIdx.x * 128 + threadIdx.x;
    if (i >= quads * C * K * K)
        return;
    const int row = i / quads, c = row / (K * K), p = row / K % K, q = row % K;
    const size_t c0 = i % quads * 4;
    float v[4];
    for (int j = 0; j < 4; j++) {
        const size_t col = c0 + j;
        v[j] = col < cols ? X(col / W_out / H_out, c, col / W_out % H_out + p, col % W_out + q) : 0;
    }
    u[i] = make_float4(v[0], v[1], v[2], v[3]);
}
__global__ void multiply4(struct conv_shape shape, const float4 *u, const float *k, float *y,
                          size_t quads)
{
    SIZES;
    __shared__ float s_k[16][16];
    __shared__ float4 s_u[16][16];
    const int m = blockIdx.y * 16 + threadIdx.y, rows = C * K * K;
    const size_t cols = (size_t)B * H_out * W_out, quad = (size_t)blockIdx.x * 16 + threadIdx.x;
    float4 sum = {};
    for (int r0 = 0; r0 < rows; r0 += 16) {
        s_k[threadIdx.y][threadIdx.x] =
            m < M && r0 + threadIdx.x < rows ? k[m * rows + r0 + threadIdx.x] : 0;
        s_u[threadIdx.y][threadIdx.x] = r0 + threadIdx.y < rows && quad < quads
                                            ? u[(r0 + threadIdx.y) * quads + quad]
                                            : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int r = 0; r < 16; r++) {
            const float f = s_k[threadIdx.y][r];
            const float4 v = s_u[r][threadIdx.x];
            sum.x += f * v.x, sum.y += f * v.y, sum.z += f * v.z, sum.w += f * v.w;
        }
        __syncthreads();
    }
    const float o[4] = {sum.x, sum.y, sum.z, sum.w};
    for (int j = 0; j < 4; j++) {
        const size_t col = quad * 4 + j;
        if (m < M && col < cols)
            Y(col / W_out / H_out, m, 0, col % ((size_t)W_out * H_out)) = o[j];
    }
}
/* expect: pass */
int float4_matrix(ARGUMENTS)
{
    const size_t quads = (columns(s) + 3) / 4, n = quads * s->C * s->K * s->K;
    float4 *u = (float4 *)conv_workspace(n * 16);
    unroll4<<<(n + 127) / 128, 128>>>(*s, x, u, quads);
    multiply4<<<dim3((quads + 15) / 16, (s->M + 15) / 16), dim3(16, 16)>>>(*s, u, k, y, quads);
    return failed();
}
/* narrow tiles: two maps by 64 columns, so that each staged element of the matrix is used twice */
__global__ void two_maps(struct conv_shape shape, const float *u, const float *k, float *y)
{
    SIZES;
    __shared__ float s_u[8][64], s_k[2][8];
    const int rows = C * K * K, m = blockIdx.y * 2 + threadIdx.y,
              id = threadIdx.y * 64 + threadIdx.x;
    const size_t cols = (size_t)B * H_out * W_out, col = (size_t)blockIdx.x * 64 + threadIdx.x;
    float sum = 0;
    for (int r0 = 0; r0 < rows; r0 += 8) {
        for (int r = threadIdx.y; r < 8; r += 2)
            s_u[r][threadIdx.x] = r0 + r < rows && col < cols ? u[(r0 + r) * cols + col] : 0;
        if (id < 16)
            s_k[id / 8][id % 8] = blockIdx.y * 2 + id / 8 < M && r0 + id % 8 < rows
                                      ? k[(blockIdx.y * 2 + id / 8) * rows + r0 + id % 8]
                                      : 0;
        __syncthreads();
        for (int r = 0; r < 8; r++)
            sum += s_u[r][threadIdx.x] * s_k[threadIdx.y][r];
        __syncthreads();
    }
    if (m < M && col < cols)
        Y(col / W_out / H_out, m, col / W_out % H_out, col % W_out) = sum;
}
/* expect: pass */
int narrow_tiles(ARGUMENTS)
{
    const float *u = launch_unroll(s, x);
    two_maps<<<dim3((columns(s) + 63) / 64, (s->M + 1) / 2), dim3(64, 2)>>>(*s, u, k, y);
    return failed();
}
