/* The parts of a convolution as a matrix product: y[m, col] = sum over row of k[m, row] u[row,
 * col], where row = (c, p, q), col = (b, h, w) and u[row, col] = x[b, c, h + p, w + q]. */
#include "common.cuh"

/* The size of the unrolled matrix. */
static size_t columns(const struct conv_shape *s)
{
    return (size_t)s->B * (s->H - s->K + 1) * (s->W - s->K + 1);
}

__global__ void unroll(struct conv_shape shape, const float *x, float *u)
{
    SIZES;
    const size_t cols = (size_t)B * H_out * W_out, i = (size_t)blockIdx.x * 128 + threadIdx.x;
    if (i >= cols * C * K * K)
        return;
    const size_t row = i / cols, col = i % cols;
    const int c = row / (K * K), p = row / K % K, q = row % K;
    u[i] = X(col / W_out / H_out, c, col / W_out % H_out + p, col % W_out + q);
}

static float *launch_unroll(const struct conv_shape *s, const float *x)
{
    const size_t n = columns(s) * s->C * s->K * s->K;
    float *u = floats(n);
    unroll<<<(n + 127) / 128, 128>>>(*s, x, u);
    return u;
}

/* An element of u, from the matrix in memory or (FUSED) directly from x. */
template <bool FUSED>
__device__ float element(struct conv_shape shape, const float *x, size_t cols, int row, size_t col)
{
    SIZES;
    if (row >= C * K * K || col >= cols)
        return 0;
    if (!FUSED)
        return x[row * cols + col];
    const int c = row / (K * K), p = row / K % K, q = row % K;
    return X(col / W_out / H_out, c, col / W_out % H_out + p, col % W_out + q);
}

/* 16 x 16 tiles of both operands. @param get  (row, col): an element of u */
template <class Element>
__device__ void multiply_tiles(struct conv_shape shape, const float *k, float *y, Element get)
{
    SIZES;
    __shared__ float s_k[16][16], s_u[16][16];
    const int m = blockIdx.y * 16 + threadIdx.y, rows = C * K * K;
    const size_t cols = (size_t)B * H_out * W_out, col = (size_t)blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int r0 = 0; r0 < rows; r0 += 16) {
        s_k[threadIdx.y][threadIdx.x] =
            m < M && r0 + threadIdx.x < rows ? k[m * rows + r0 + threadIdx.x] : 0;
        s_u[threadIdx.y][threadIdx.x] = get(r0 + threadIdx.y, col);
        __syncthreads();
        for (int r = 0; r < 16; r++)
            sum += s_k[threadIdx.y][r] * s_u[r][threadIdx.x];
        __syncthreads();
    }
    if (m < M && col < cols)
        Y(col / W_out / H_out, m, 0, col % ((size_t)W_out * H_out)) = sum;
}

template <bool FUSED>
__global__ void multiply(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const size_t cols = (size_t)B * H_out * W_out;
    multiply_tiles(shape, k, y,
                   [=](int row, size_t col) { return element<FUSED>(shape, x, cols, row, col); });
}

/* Does the product without shared memory. */
template <bool FUSED>
__global__ void untiled(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int m = blockIdx.y, rows = C * K * K;
    const size_t cols = (size_t)B * H_out * W_out, col = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (col >= cols)
        return;
    float sum = 0;
    for (int r = 0; r < rows; r++)
        sum += k[m * rows + r] * element<FUSED>(shape, x, cols, r, col);
    Y(col / W_out / H_out, m, 0, col % ((size_t)W_out * H_out)) = sum;
}

/* The grid of multiply_tiles(). */
static dim3 product_tiles(const struct conv_shape *s)
{
    return dim3((columns(s) + 15) / 16, (s->M + 15) / 16);
}

template <bool FUSED> static int launch_multiply(ARGUMENTS)
{
    multiply<FUSED><<<product_tiles(s), dim3(16, 16)>>>(*s, x, k, y);
    return failed();
}

template <bool FUSED> static int launch_untiled(ARGUMENTS)
{
    const size_t cols = columns(s);
    untiled<FUSED><<<dim3((cols + 255) / 256, s->M), 256>>>(*s, x, k, y);
    return failed();
}
