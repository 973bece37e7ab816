/* Submissions for m5: an unrolled matrix, then a tiled matrix product. */
#include "gemm.cuh"

/* expect: pass */
SUBMISSION(right_whole, launch_multiply<false>(s, launch_unroll(s, x), k, y))

/* One image at a time, in the same scratch memory; a warp's lanes exchange the elements that they
 * loaded. */
__global__ void multiply_row(struct conv_shape shape, const float *u, const float *k, float *y,
                             int rows, int cols)
{
    __shared__ float s_k[8][32], s_u[32][32];
    const int m = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int r0 = 0; r0 < rows; r0 += 32) {
        for (int r = threadIdx.y; r < 32; r += 8)
            s_u[r][threadIdx.x] = r0 + r < rows && col < cols ? u[(r0 + r) * cols + col] : 0;
        s_k[threadIdx.y][threadIdx.x] =
            m < shape.M && r0 + threadIdx.x < rows ? k[m * rows + r0 + threadIdx.x] : 0;
        __syncthreads();
        const float mine = s_k[threadIdx.y][threadIdx.x];
        for (int r = 0; r < 32; r++)
            sum += __shfl_sync(0xffffffff, mine, r) * s_u[r][threadIdx.x];
        __syncthreads();
    }
    if (m < shape.M && col < cols)
        y[m * cols + col] = sum;
}

/* expect: pass */
int right_chunks(ARGUMENTS)
{
    struct conv_shape one = *s;
    one.B = 1;
    const int cols = (s->H - s->K + 1) * (s->W - s->K + 1), rows = s->C * s->K * s->K;
    for (size_t b = 0; b < (size_t)s->B; b++) {
        const float *u = launch_unroll(&one, x + b * s->C * s->H * s->W);
        multiply_row<<<dim3((cols + 31) / 32, (s->M + 7) / 8), dim3(32, 8)>>>(
            one, u, k, y + b * s->M * cols, rows, cols);
    }
    return failed();
}

/* The matrix is written but never read. */
/* expect: 0% of the products summed into y take x from that matrix */
int decoy_nobody_reads(ARGUMENTS)
{
    launch_unroll(s, x);
    return launch_plain(s, x, k, y);
}

/* ... or only its tiled product is discarded. */
/* expect: 0% of the products summed into y take x from that matrix */
int decoy_product_unused(ARGUMENTS)
{
    launch_unroll(s, x);
    return launch_multiply<true>(s, x, k, y);
}

/* expect: 0% of the products summed into y take x from shared memory */
SUBMISSION(decoy_not_tiled, launch_untiled<false>(s, launch_unroll(s, x), k, y))

/* x is copied, not unrolled. */
/* expect: times the unrolled matrix */
int decoy_copy_of_x(ARGUMENTS)
{
    const size_t n = x_floats(s);
    float *to = floats(n);
    copy_floats<<<(n + 127) / 128, 128>>>(x, to, n);
    return launch_multiply<true>(s, to, k, y);
}

/* Everything in one kernel. */
/* expect: wrote 0.00 times the unrolled matrix */
SUBMISSION(decoy_fused, launch_multiply<true>(s, x, k, y))

/* The matrix is in memory that the host could write, but does not. */
/* expect: pass */
int right_managed(ARGUMENTS)
{
    const size_t n = columns(s) * s->C * s->K * s->K;
    float *u;
    if (cudaMallocManaged(&u, n * 4))
        return 1;
    unroll<<<(n + 127) / 128, 128>>>(*s, x, u);
    const int bad = launch_multiply<false>(s, u, k, y);
    cudaDeviceSynchronize();
    cudaFree(u);
    return bad;
}

/* Pointers to both in a table on the device. */
__global__ void multiply_pointed(struct conv_shape shape, const float *const *pointers, float *y)
{
    const float *u = pointers[0], *k = pointers[1];
    SIZES;
    const size_t cols = (size_t)B * H_out * W_out;
    multiply_tiles(shape, k, y,
                   [=](int row, size_t col) { return element<false>(shape, u, cols, row, col); });
}

/* expect: pass */
int right_pointers_in_memory(ARGUMENTS)
{
    const float *pointers[2], **there;
    cudaMalloc(&there, sizeof pointers);
    pointers[0] = launch_unroll(s, x), pointers[1] = k;
    cudaMemcpy(there, pointers, sizeof pointers, cudaMemcpyHostToDevice);
    multiply_pointed<<<product_tiles(s), dim3(16, 16)>>>(*s, there, y);
    cudaFree(there);
    return failed();
}

/* The matrix is read, but x is used. */
__global__ void looked_at(struct conv_shape shape, const float *x, const float *u, const float *k,
                          float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++)
            sum += (u[c] == 1e30f ? u[i] : X(b, c, h + i / K, w + i % K)) * KK(m, c, 0, i);
    Y(b, m, h, w) = sum;
}

/* expect: 0% of the products summed into y take x from that matrix */
int decoy_looked_at(ARGUMENTS)
{
    const float *u = launch_unroll(s, x);
    return LAUNCH_WITH(looked_at, *s, x, u, k, y);
}
