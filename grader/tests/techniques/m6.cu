/* Submissions for m6: unrolling fused into the matrix product. */
#include "gemm.cuh"

/* expect: pass */
SUBMISSION(right_tiles, launch_multiply<true>(s, x, k, y))

/* One-dimensional blocks; each thread computes four maps of one column and reads the tile of x from
 * shared memory once for all four. */
__global__ void four_maps(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float s_u[8][32];
    __shared__ float4 s_k[8][4];
    const int rows = C * K * K, lane = threadIdx.x % 32, group = threadIdx.x / 32;
    const int m0 = blockIdx.y * 16;
    const size_t cols = (size_t)B * H_out * W_out, col = (size_t)blockIdx.x * 32 + lane;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int r0 = 0; r0 < rows; r0 += 8) {
        for (int r = group; r < 8; r += 4)
            s_u[r][lane] = element<true>(shape, x, cols, r0 + r, col);
        const int r = threadIdx.x / 16, m = m0 + threadIdx.x % 16;
        ((float *)s_k[r])[threadIdx.x % 16] = m < M && r0 + r < rows ? k[m * rows + r0 + r] : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const float v = s_u[i][lane];
            const float4 weight = s_k[i][group];
            sum.x += v * weight.x, sum.y += v * weight.y;
            sum.z += v * weight.z, sum.w += v * weight.w;
        }
        __syncthreads();
    }
    const float out[4] = {sum.x, sum.y, sum.z, sum.w};
    for (int j = 0; j < 4; j++)
        if (col < cols && m0 + 4 * group + j < M)
            Y(col / W_out / H_out, m0 + 4 * group + j, 0, col % ((size_t)W_out * H_out)) = out[j];
}

/* expect: pass */
int right_registers(ARGUMENTS)
{
    const size_t cols = columns(s);
    four_maps<<<dim3((cols + 31) / 32, (s->M + 15) / 16), 128>>>(*s, x, k, y);
    return failed();
}

/* expect: 2 kernels use x */
SUBMISSION(decoy_two_kernels, launch_multiply<false>(s, launch_unroll(s, x), k, y))

/* expect: 0% of the products summed into y take x from shared memory */
SUBMISSION(decoy_not_tiled, launch_untiled<true>(s, x, k, y))

/* expect: 0% of the products summed into y take x from shared memory */
SUBMISSION(decoy_plain, launch_plain(s, x, k, y))

/* Each thread writes its own column of the matrix to memory, then reads it. */
__global__ void through_memory(struct conv_shape shape, const float *x, const float *k, float *u,
                               float *y)
{
    SIZES;
    __shared__ float s_k[256];
    const int rows = C * K * K;
    const size_t cols = (size_t)B * H_out * W_out, col = (size_t)blockIdx.x * 64 + threadIdx.x;
    for (int r = 0; r < rows && col < cols; r++)
        u[r * cols + col] = element<true>(shape, x, cols, r, col);
    for (int m = 0; m < M; m++) {
        float sum = 0;
        for (int r0 = 0; r0 < rows; r0 += 256) {
            __syncthreads();
            for (int i = threadIdx.x; i < 256 && r0 + i < rows; i += 64)
                s_k[i] = k[m * rows + r0 + i];
            __syncthreads();
            for (int r = r0; r < rows && r < r0 + 256 && col < cols; r++)
                sum += s_k[r - r0] * u[r * cols + col];
        }
        if (col < cols)
            Y(col / W_out / H_out, m, 0, col % ((size_t)W_out * H_out)) = sum;
    }
}

/* expect: elements of x written back to global memory (at most 0) */
int decoy_matrix_in_one_kernel(ARGUMENTS)
{
    const size_t cols = columns(s);
    float *u = floats(cols * s->C * s->K * s->K);
    through_memory<<<(cols + 63) / 64, 64>>>(*s, x, k, u, y);
    return failed();
}

/* Weights in constant memory; two rows of threads share a tile of x. */
__constant__ float c_k[15000];
__global__ void constant_weights(struct conv_shape shape, const float *x, float *y)
{
    SIZES;
    __shared__ float s_u[8][64];
    const int rows = C * K * K, m = blockIdx.y * 4 + threadIdx.y;
    const size_t cols = (size_t)B * H_out * W_out, col = (size_t)blockIdx.x * 64 + threadIdx.x;
    float sum = 0;
    for (int r0 = 0; r0 < rows; r0 += 8) {
        for (int r = threadIdx.y; r < 8; r += 4)
            s_u[r][threadIdx.x] = element<true>(shape, x, cols, r0 + r, col);
        __syncthreads();
        for (int r = 0; r < 8 && r0 + r < rows && m < M; r++)
            sum += s_u[r][threadIdx.x] * c_k[m * rows + r0 + r];
        __syncthreads();
    }
    if (col < cols && m < M)
        Y(col / W_out / H_out, m, 0, col % ((size_t)W_out * H_out)) = sum;
}

/* expect: pass */
int right_constant_weights(ARGUMENTS)
{
    const size_t cols = columns(s);
    const size_t n = k_floats(s);
    if (n > 15000)
        return launch_multiply<true>(s, x, k, y);
    cudaMemcpyToSymbol(c_k, k, n * 4, 0, cudaMemcpyDeviceToDevice);
    constant_weights<<<dim3((cols + 63) / 64, (s->M + 3) / 4), dim3(64, 4)>>>(*s, x, y);
    return failed();
}
