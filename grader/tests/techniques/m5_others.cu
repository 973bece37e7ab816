/* Submissions for m5 in the styles of other courses, and a decoy. */
#include "common.cuh"

/* One kernel for all steps, image by image: the unrolled matrix, the product, and its copy to y. */
__global__ void steps(int step, conv_shape shape, const float *x, const float *k, float *y, int b,
                      float *u, float *product)
{
    SIZES;
    const int area = H_out * W_out, taps = C * K * K;
    const int i = blockIdx.x * 256 + threadIdx.y * 16 + threadIdx.x;
    if (step == 1 && i < area * taps) {
        const int t = i % taps, o = i / taps;
        u[i] = X(b, t / (K * K), o / W_out + t / K % K, o % W_out + t % K);
    }
    if (step == 2) {
        __shared__ float rows[16][17], weights[16][17];
        const int o = blockIdx.x * 16 + threadIdx.y, m = blockIdx.y * 16 + threadIdx.x;
        float sum = 0;
        for (int t = 0; t < taps; t += 16) {
            rows[threadIdx.y][threadIdx.x] =
                o < area && t + threadIdx.x < taps ? u[o * taps + t + threadIdx.x] : 0.f;
            weights[threadIdx.y][threadIdx.x] =
                m < M && t + threadIdx.y < taps ? k[m * taps + t + threadIdx.y] : 0.f;
            __syncthreads();
            for (int j = 0; j < 16; j++)
                sum += rows[threadIdx.y][j] * weights[j][threadIdx.x];
            __syncthreads();
        }
        if (o < area && m < M)
            product[o * M + m] = sum;
    }
    if (step == 3 && i < area * M)
        y[((size_t)b * M + i % M) * area + i / M] = product[i];
}
/* expect: pass */
int one_kernel_in_steps(ARGUMENTS)
{
    const int area = (s->H - s->K + 1) * (s->W - s->K + 1), taps = s->C * s->K * s->K;
    float *const u = floats((size_t)area * (taps + s->M)), *const product = u + area * taps;
    const dim3 block(16, 16);
    for (int b = 0; b < s->B; b++) {
        steps<<<(area * taps + 255) / 256, block>>>(1, *s, x, k, y, b, u, product);
        steps<<<dim3((area + 15) / 16, (s->M + 15) / 16), block>>>(2, *s, x, k, y, b, u, product);
        steps<<<(area * s->M + 255) / 256, block>>>(3, *s, x, k, y, b, u, product);
    }
    return failed();
}

/* A column of the matrix per thread and image, images in groups, and a product whose blocks hold 64
 * columns and all maps of a group of 16. */
__global__ void columns_of(conv_shape shape, const float *x, float *u, int first, int images)
{
    SIZES;
    const int area = H_out * W_out, i = blockIdx.x * 256 + threadIdx.x, cols = images * area;
    if (i >= cols * C)
        return;
    const int c = i / cols, o = i % cols, b = first + o / area, h = o % area / W_out, w = o % W_out;
    float *to = u + (size_t)c * K * K * cols + o;
    for (int p = 0; p < K; p++)
        for (int q = 0; q < K; q++, to += cols)
            *to = X(b, c, h + p, w + q);
}
__global__ void product_of(conv_shape shape, const float *k, const float *u, float *y, int first,
                           int images)
{
    SIZES;
    __shared__ float a[16][17], v[16][64];
    const int area = H_out * W_out, cols = images * area, taps = C * K * K,
              m = blockIdx.y * 16 + threadIdx.y, o0 = blockIdx.x * 64;
    float sum[4] = {};
    for (int t0 = 0; t0 < taps; t0 += 16) {
        a[threadIdx.y][threadIdx.x] =
            m < M && t0 + threadIdx.x < taps ? k[m * taps + t0 + threadIdx.x] : 0.f;
        for (int j = 0; j < 4; j++) {
            const int o = o0 + threadIdx.x + 16 * j, t = t0 + threadIdx.y;
            v[threadIdx.y][threadIdx.x + 16 * j] =
                o < cols && t < taps ? u[(size_t)t * cols + o] : 0.f;
        }
        __syncthreads();
        for (int t = 0; t < 16; t++)
            for (int j = 0; j < 4; j++)
                sum[j] += a[threadIdx.y][t] * v[t][threadIdx.x + 16 * j];
        __syncthreads();
    }
    for (int j = 0; j < 4; j++) {
        const int o = o0 + threadIdx.x + 16 * j;
        if (m < M && o < cols)
            Y(first + o / area, m, o % area / W_out, o % W_out) = sum[j];
    }
}
/* expect: pass */
int images_in_groups(ARGUMENTS)
{
    const int area = (s->H - s->K + 1) * (s->W - s->K + 1), taps = s->C * s->K * s->K;
    int group = (int)((8 << 20) / ((size_t)area * taps * 4)) + 1;
    group = group < s->B ? group : s->B;
    float *u = floats((size_t)group * area * taps);
    for (int b = 0; b < s->B; b += group) {
        const int n = s->B - b < group ? s->B - b : group;
        columns_of<<<(n * area * s->C + 255) / 256, 256>>>(*s, x, u, b, n);
        product_of<<<dim3((n * area + 63) / 64, (s->M + 15) / 16), dim3(16, 16)>>>(*s, k, u, y, b,
                                                                                   n);
    }
    return failed();
}

/* The matrix row by row for each output: [output][tap], as some frameworks store it. */
__global__ void rows_of(conv_shape shape, const float *x, float *u)
{
    SIZES;
    const int taps = C * K * K;
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i >= (size_t)B * H_out * W_out * taps)
        return;
    const int t = i % taps;
    const size_t o = i / taps;
    u[i] = X(o / (H_out * W_out), t / (K * K), o / W_out % H_out + t / K % K, o % W_out + t % K);
}
__global__ void times_transposed(conv_shape shape, const float *k, const float *u, float *y)
{
    SIZES;
    __shared__ float a[16][17], v[16][17];
    const int taps = C * K * K, area = H_out * W_out, m = blockIdx.y * 16 + threadIdx.y;
    const size_t o = (size_t)blockIdx.x * 16 + threadIdx.x, first = (size_t)blockIdx.x * 16,
                 all = (size_t)B * area;
    float sum = 0;
    for (int t0 = 0; t0 < taps; t0 += 16) {
        const bool has = t0 + threadIdx.x < taps;
        a[threadIdx.y][threadIdx.x] = has && m < M ? k[m * taps + t0 + threadIdx.x] : 0.f;
        v[threadIdx.y][threadIdx.x] = has && first + threadIdx.y < all
                                          ? u[(first + threadIdx.y) * taps + t0 + threadIdx.x]
                                          : 0.f;
        __syncthreads();
        for (int t = 0; t < 16; t++)
            sum += a[threadIdx.y][t] * v[threadIdx.x][t];
        __syncthreads();
    }
    if (m < M && o < all)
        y[((o / area) * M + m) * area + o % area] = sum;
}
/* expect: pass */
int rows_of_outputs(ARGUMENTS)
{
    const size_t n = (size_t)s->B * (s->H - s->K + 1) * (s->W - s->K + 1);
    const size_t all = n * s->C * s->K * s->K;
    float *u = floats(all);
    rows_of<<<(all + 255) / 256, 256>>>(*s, x, u);
    times_transposed<<<dim3((n + 15) / 16, (s->M + 15) / 16), dim3(16, 16)>>>(*s, k, u, y);
    return failed();
}

/* The matrix is written and tiled, but its elements are multiplied by 0; those of x come beside. */
__global__ void beside_matrix(conv_shape shape, const float *x, const float *k, const float *u,
                              float *y, float zero)
{
    SIZES;
    __shared__ float a[16][17], v[16][17], own[16][17];
    const int taps = C * K * K, area = H_out * W_out, m = blockIdx.y * 16 + threadIdx.y;
    const size_t o = (size_t)blockIdx.x * 16 + threadIdx.x, first = (size_t)blockIdx.x * 16,
                 all = (size_t)B * area;
    float sum = 0, nothing = 0;
    for (int t0 = 0; t0 < taps; t0 += 16) {
        const int t = t0 + threadIdx.x;
        const size_t at = first + threadIdx.y;
        const bool has = t < taps && at < all;
        a[threadIdx.y][threadIdx.x] = t < taps && m < M ? k[m * taps + t] : 0.f;
        v[threadIdx.y][threadIdx.x] = has ? u[at * taps + t] : 0.f;
        own[threadIdx.y][threadIdx.x] =
            has ? X(at / area, t / (K * K), at % area / W_out + t / K % K, at % W_out + t % K)
                : 0.f;
        __syncthreads();
        for (int i = 0; i < 16; i++) {
            sum += a[threadIdx.y][i] * own[threadIdx.x][i];
            nothing += a[threadIdx.y][i] * v[threadIdx.x][i];
        }
        __syncthreads();
    }
    if (m < M && o < all)
        y[((o / area) * M + m) * area + o % area] = sum + zero * nothing;
}
/* expect: of the products summed into y take x from that matrix */
int decoy_beside_matrix(ARGUMENTS)
{
    const size_t n = (size_t)s->B * (s->H - s->K + 1) * (s->W - s->K + 1);
    const size_t all = n * s->C * s->K * s->K;
    float *u = floats(all);
    rows_of<<<(all + 255) / 256, 256>>>(*s, x, u);
    beside_matrix<<<dim3((n + 15) / 16, (s->M + 15) / 16), dim3(16, 16)>>>(*s, x, k, u, y, 0.f);
    return failed();
}
