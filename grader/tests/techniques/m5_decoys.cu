/* Right results without the unrolled matrix of m5. */
#include "gemm.cuh"
/* makes as many copies of x as fill the matrix's size, then uses the first copy */
__global__ void copies(const float *x, float *u, size_t n, size_t all)
{
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i < all)
        u[i] = x[i % n];
}
/* expect: times the unrolled matrix, counting each element once */
int many_copies(ARGUMENTS)
{
    const size_t n = x_floats(s), all = columns(s) * s->C * s->K * s->K;
    float *u = floats(all > n ? all : n);
    copies<<<((all > n ? all : n) + 255) / 256, 256>>>(x, u, n, all > n ? all : n);
    return launch_multiply<true>(s, u, k, y);
}
/* the matrix of the first image only */
/* expect: times the unrolled matrix */
int matrix_of_one_image(ARGUMENTS)
{
    struct conv_shape one = *s;
    one.B = 1;
    const int bad = launch_multiply<false>(&one, launch_unroll(&one, x), k, y);
    if (s->B == 1)
        return bad;
    struct conv_shape rest = *s;
    rest.B--;
    return bad | launch_multiply<true>(&rest, x + (size_t)s->C * s->H * s->W, k,
                                       y + columns(&one) * s->M);
}
/* only one operand tiled */
__global__ void half_tiled(struct conv_shape shape, const float *u, const float *k, float *y)
{
    SIZES;
    __shared__ float s_u[16][16];
    const int m = blockIdx.y * 16 + threadIdx.y, rows = C * K * K;
    const size_t cols = (size_t)B * H_out * W_out, col = (size_t)blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int r0 = 0; r0 < rows; r0 += 16) {
        s_u[threadIdx.y][threadIdx.x] =
            r0 + threadIdx.y < rows && col < cols ? u[(size_t)(r0 + threadIdx.y) * cols + col] : 0;
        __syncthreads();
        for (int r = 0; r < 16 && r0 + r < rows && m < M; r++)
            sum += k[m * rows + r0 + r] * s_u[r][threadIdx.x];
        __syncthreads();
    }
    if (m < M && col < cols)
        Y(col / W_out / H_out, m, 0, col % ((size_t)W_out * H_out)) = sum;
}
/* expect: 0% of the products summed into y take k from shared memory */
SUBMISSION_LAUNCH(weights_not_tiled,
                  half_tiled<<<product_tiles(s), dim3(16, 16)>>>(*s, launch_unroll(s, x), k, y))
/* half of the maps from the matrix */
/* expect: of the products summed into y take x from that matrix */
int half_of_the_maps(ARGUMENTS)
{
    const int half = (s->M + 1) / 2;
    struct conv_shape one = *s;
    one.B = 1;
    int bad = 0;
    if (s->M == 1)
        return launch_multiply<false>(s, launch_unroll(s, x), k, y);
    for (int b = 0; b < s->B; b++) {
        const float *xb = x + (size_t)b * s->C * s->H * s->W;
        float *yb = y + columns(&one) * s->M * b;
        struct conv_shape a = one, z = one;
        a.M = half, z.M = s->M - half;
        bad |= launch_multiply<false>(&a, launch_unroll(&one, xb), k, yb) |
               launch_multiply<true>(&z, xb, k + (size_t)half * s->C * s->K * s->K,
                                     yb + columns(&one) * half);
    }
    return bad;
}
/* copies x through shared memory into a matrix that the product does not read */
__global__ void both(struct conv_shape shape, const float *x, const float *u, const float *k,
                     float *y)
{
    SIZES;
    const size_t cols = (size_t)B * H_out * W_out;
    multiply_tiles(shape, k, y, [=](int row, size_t col) {
        const float real = element<true>(shape, x, cols, row, col),
                    other = element<false>(shape, u, cols, row, col);
        return other == 1e30f ? other : real;
    });
}
/* expect: of the products summed into y take x from that matrix */
SUBMISSION_LAUNCH(matrix_never_chosen,
                  both<<<product_tiles(s), dim3(16, 16)>>>(*s, x, launch_unroll(s, x), k, y))
/* the matrix or x, through a pointer and strides that depend on the number of images */
__global__ void by_strides(struct conv_shape shape, const float *from, const float *k, float *y,
                           int unrolled)
{
    SIZES;
    const size_t cols = (size_t)B * H_out * W_out;
    multiply_tiles(shape, k, y, [=](int row, size_t col) {
        const int r = min(row, C * K * K - 1);
        const size_t at = min(col, cols - 1);
        const size_t matrix = r * cols + at, image = (((at / W_out / H_out) * C + r / (K * K)) * H +
                                                      at / W_out % H_out + r / K % K) *
                                                         W +
                                                     at % W_out + r % K;
        return from[unrolled ? matrix : image];
    });
}
/* expect: timed: but not in the timed runs */
int matrix_when_few(ARGUMENTS)
{
    const int few = s->B <= 24;
    by_strides<<<product_tiles(s), dim3(16, 16)>>>(*s, few ? launch_unroll(s, x) : x, k, y, few);
    return failed();
}
/* half of the products take x directly if there are many images; with few images, those of some maps */
__global__ void unroll_whole(struct conv_shape shape, const float *x, float *u)
{
    SIZES;
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x, cols = (size_t)B * H_out * W_out;
    if (i >= cols * C * K * K)
        return;
    const int col = i % cols, tap = i / cols;
    u[i] = X(col / (H_out * W_out), tap / (K * K), col / W_out % H_out + tap / K % K,
             col % W_out + tap % K);
}
__global__ void gemm_either(struct conv_shape shape, const float *x, const float *u, const float *k,
                            float *y, int direct)
{
    SIZES;
    __shared__ float sx[16][17], sk[4][17];
    const int cols = B * H_out * W_out, col = blockIdx.x * 16 + threadIdx.x, D = C * K * K,
              t = threadIdx.x + 16 * threadIdx.y;
    const int m0 = blockIdx.y * 4;
    float sum = 0;
    for (int d0 = 0; d0 < D; d0 += 16) {
        float v = 0;
        for (int i = threadIdx.y; i < 16; i += 4) {
            const int tap = d0 + i;
            if (col < cols && tap < D) {
                if (m0 < direct && tap % 2)
                    v = X(col / (H_out * W_out), tap / (K * K), col / W_out % H_out + tap / K % K,
                          col % W_out + tap % K);
                else
                    v = u[(size_t)tap * cols + col];
            } else
                v = 0;
            sx[i][threadIdx.x] = v;
        }
        if (t < 64)
            sk[t / 16][t % 16] =
                m0 + t / 16 < M && d0 + t % 16 < D ? k[(m0 + t / 16) * D + d0 + t % 16] : 0;
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += sk[threadIdx.y][i] * sx[i][threadIdx.x];
        __syncthreads();
    }
    const int m = m0 + threadIdx.y;
    if (m < M && col < cols)
        Y(col / (H_out * W_out), m, col / W_out % H_out, col % W_out) = sum;
}
/* expect: timed: but not in the timed runs */
int reads_x_when_many(ARGUMENTS)
{
    const size_t cols = (size_t)s->B * (s->H - s->K + 1) * (s->W - s->K + 1),
                 D = s->C * s->K * s->K;
    float *u = floats(cols * D);
    unroll_whole<<<(cols * D + 255) / 256, 256>>>(*s, x, u);
    gemm_either<<<dim3((cols + 15) / 16, (s->M + 3) / 4), dim3(16, 4)>>>(*s, x, u, k, y,
                                                                         s->B > 24 ? s->M : 4);
    return failed();
}
