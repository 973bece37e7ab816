/* Submissions for m11 in the styles of other courses, and decoys. */
#include "common.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

/* ---- both factors split by kernels of their own, into matrices in scratch memory -------------- */

struct split_sizes {
    int rows, depth, cols;
};

static __host__ __device__ split_sizes sizes_of(const conv_shape &s)
{
    const int cols = s.B * (s.H - s.K + 1) * (s.W - s.K + 1);
    return {(s.M + 15) / 16 * 16, (s.C * s.K * s.K + 7) / 8 * 8, (cols + 15) / 16 * 16};
}

__global__ void split_k(conv_shape s, const float *k, float *big, float *small)
{
    const split_sizes n = sizes_of(s);
    const int i = blockIdx.x * blockDim.x + threadIdx.x, taps = s.C * s.K * s.K;
    if (i >= n.rows * n.depth)
        return;
    const int m = i / n.depth, t = i % n.depth;
    const float v = m < s.M && t < taps ? k[m * taps + t] : 0.f;
    big[i] = wmma::__float_to_tf32(v);
    small[i] = wmma::__float_to_tf32(v - big[i]);
}

__global__ void split_x(conv_shape shape, const float *x, float *big, float *small)
{
    SIZES;
    const split_sizes n = sizes_of(shape);
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)n.depth * n.cols)
        return;
    const int t = i / n.cols, o = i % n.cols, area = H_out * W_out;
    const float v = t < C * K * K && o < B * area
                        ? X(o / area, t / (K * K), o % area / W_out + t / K % K, o % W_out + t % K)
                        : 0.f;
    big[i] = wmma::__float_to_tf32(v);
    small[i] = wmma::__float_to_tf32(v - big[i]);
}

__global__ void multiply_split(conv_shape shape, const float *k0, const float *k1, const float *x0,
                               const float *x1, float *out)
{
    const split_sizes n = sizes_of(shape);
    const int row = blockIdx.y * 16, col = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a0, a1;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b0, b1;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum, rest;
    wmma::fill_fragment(sum, 0.f);
    wmma::fill_fragment(rest, 0.f);
    for (int t = 0; t < n.depth; t += 8) {
        wmma::load_matrix_sync(a0, k0 + row * n.depth + t, n.depth);
        wmma::load_matrix_sync(a1, k1 + row * n.depth + t, n.depth);
        wmma::load_matrix_sync(b0, x0 + (size_t)t * n.cols + col, n.cols);
        wmma::load_matrix_sync(b1, x1 + (size_t)t * n.cols + col, n.cols);
        wmma::mma_sync(rest, a1, b0, rest);
        wmma::mma_sync(rest, a0, b1, rest);
        wmma::mma_sync(sum, a0, b0, sum);
    }
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] += rest.x[i];
    wmma::store_matrix_sync(out + (size_t)row * n.cols + col, sum, n.cols, wmma::mem_row_major);
}

__global__ void back_to_y(conv_shape shape, const float *out, float *y)
{
    FLAT_PLACE;
    const int cols = sizes_of(shape).cols;
    y[i] = out[(size_t)m * cols + (b * H_out + h) * W_out + w];
}

/* expect: pass */
int right_split_first(ARGUMENTS)
{
    const split_sizes n = sizes_of(*s);
    const size_t ks = (size_t)n.rows * n.depth, xs = (size_t)n.depth * n.cols,
                 ys = (size_t)n.rows * n.cols;
    float *at = floats(2 * ks + 2 * xs + ys);
    float *k0 = at, *k1 = k0 + ks, *x0 = k1 + ks, *x1 = x0 + xs, *out = x1 + xs;
    if (!at)
        return 1;
    split_k<<<(ks + 255) / 256, 256>>>(*s, k, k0, k1);
    split_x<<<(xs + 255) / 256, 256>>>(*s, x, x0, x1);
    multiply_split<<<dim3(n.cols / 16, n.rows / 16), 32>>>(*s, k0, k1, x0, x1, out);
    back_to_y<<<(y_floats(s) + 255) / 256, 256>>>(*s, out, y);
    return failed();
}

/* ---- a product of matrices for each tap: the depth is the number of input maps ----------------- */

__device__ inline void mma_tf32(float d[4], const unsigned a[4], const unsigned b[2])
{
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ inline unsigned tf32_bits(float v)
{
    unsigned r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(v));
    return r;
}

__device__ inline void parts_of(float v, unsigned &big, unsigned &small)
{
    big = tf32_bits(v);
    small = tf32_bits(v - __uint_as_float(big));
}

/* A warp computes 16 maps at 8 positions of a row; no shared memory. */
__global__ void tap_by_tap(conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int lane = threadIdx.x % 32, group = lane / 4, in_group = lane % 4;
    const int w0 = blockIdx.x * 8, h = blockIdx.y * blockDim.y + threadIdx.y, maps = (M + 15) / 16,
              b = blockIdx.z / maps, m0 = blockIdx.z % maps * 16;
    if (h >= H_out)
        return;
    float sum[4] = {}, rest[4] = {};
    for (int c0 = 0; c0 < C; c0 += 8)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++) {
                unsigned a[4], a_low[4], v[2], v_low[2];
                for (int i = 0; i < 4; i++) {
                    const int m = m0 + group + i % 2 * 8, c = c0 + in_group + i / 2 * 4;
                    parts_of(m < M && c < C ? KK(m, c, p, q) : 0.f, a[i], a_low[i]);
                }
                for (int i = 0; i < 2; i++) {
                    const int c = c0 + in_group + i * 4, w = w0 + group;
                    parts_of(c < C && w < W_out ? X(b, c, h + p, w + q) : 0.f, v[i], v_low[i]);
                }
                mma_tf32(rest, a_low, v);
                mma_tf32(rest, a, v_low);
                mma_tf32(sum, a, v);
            }
    for (int i = 0; i < 4; i++) {
        const int m = m0 + group + i / 2 * 8, w = w0 + in_group * 2 + i % 2;
        if (m < M && w < W_out)
            Y(b, m, h, w) = sum[i] + rest[i];
    }
}

/* expect: pass */
int right_tap_by_tap(ARGUMENTS)
{
    const dim3 grid((s->W - s->K + 8) / 8, (s->H - s->K + 4) / 4, s->B * ((s->M + 15) / 16));
    tap_by_tap<<<grid, dim3(32, 4)>>>(*s, x, k, y);
    return failed();
}

/* ---- big and small weights as rows of one matrix, scaled halves ------------------------------- */

__global__ void two_rows(conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ __align__(32) half weights[16][16], windows[2][16][16];
    __shared__ __align__(32) float result[2][16][16];
    const int lane = threadIdx.x, taps = C * K * K, area = H_out * W_out, m0 = blockIdx.y * 8,
              o0 = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> v;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> of_big, of_small;
    wmma::fill_fragment(of_big, 0.f);
    wmma::fill_fragment(of_small, 0.f);
    for (int t0 = 0; t0 < taps; t0 += 16) {
        for (int i = lane; i < 128; i += 32) {
            const int m = m0 + i / 16, t = t0 + i % 16;
            const float value = 1024.f * (m < M && t < taps ? k[m * taps + t] : 0.f);
            weights[i / 16][i % 16] = __float2half(value);
            weights[8 + i / 16][i % 16] =
                __float2half(value - __half2float(weights[i / 16][i % 16]));
        }
        for (int i = lane; i < 256; i += 32) {
            const int t = t0 + i / 16, o = o0 + i % 16;
            const float value = 1024.f * (t < taps && o < B * area
                                              ? X(o / area, t / (K * K),
                                                  o % area / W_out + t / K % K, o % W_out + t % K)
                                              : 0.f);
            windows[0][i / 16][i % 16] = __float2half(value);
            windows[1][i / 16][i % 16] =
                __float2half(value - __half2float(windows[0][i / 16][i % 16]));
        }
        __syncwarp();
        wmma::load_matrix_sync(a, &weights[0][0], 16);
        wmma::load_matrix_sync(v, &windows[1][0][0], 16);
        wmma::mma_sync(of_small, a, v, of_small);
        wmma::load_matrix_sync(v, &windows[0][0][0], 16);
        wmma::mma_sync(of_big, a, v, of_big);
        __syncwarp();
    }
    wmma::store_matrix_sync(&result[0][0][0], of_big, 16, wmma::mem_row_major);
    wmma::store_matrix_sync(&result[1][0][0], of_small, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < 128; i += 32) {
        const int r = i / 16, m = m0 + r, o = o0 + i % 16;
        if (m < M && o < B * area)
            Y(o / area, m, o % area / W_out, o % W_out) =
                (result[0][r][i % 16] + (result[0][r + 8][i % 16] + result[1][r][i % 16])) *
                0x1p-20f;
    }
}

/* expect: pass */
int right_two_rows(ARGUMENTS)
{
    two_rows<<<dim3((s->B * (s->H - s->K + 1) * (s->W - s->K + 1) + 15) / 16, (s->M + 7) / 8),
               32>>>(*s, x, k, y);
    return failed();
}

/* ---- the transposed product: outputs are rows, maps are columns; a class for the tile ---------- */

template <int WARPS> struct transposed_tile {
    float big[WARPS * 16][12], small[WARPS * 16][12], k_big[8][12], k_small[8][12];
    __device__ void stage(const conv_shape &shape, const float *x, const float *k, int o0, int m0,
                          int t0)
    {
        SIZES;
        const int taps = C * K * K, area = H_out * W_out;
        for (int i = threadIdx.x; i < WARPS * 16 * 8; i += WARPS * 32) {
            const int o = o0 + i / 8, t = t0 + i % 8;
            float v = 0;
            if (o < B * area && t < taps)
                v = X(o / area, t / (K * K), o % area / W_out + t / K % K, o % W_out + t % K);
            put(big[i / 8][i % 8], small[i / 8][i % 8], v);
        }
        for (int i = threadIdx.x; i < 64; i += WARPS * 32) {
            const int m = m0 + i / 8, t = t0 + i % 8;
            put(k_big[i / 8][i % 8], k_small[i / 8][i % 8],
                m < M && t < taps ? k[m * taps + t] : 0.f);
        }
    }
    static __device__ void put(float &a, float &b, float v)
    {
        a = __uint_as_float(tf32_bits(v));
        b = __uint_as_float(tf32_bits(v - a));
    }
};

template <int WARPS>
__global__ void __launch_bounds__(WARPS * 32)
    outputs_as_rows(conv_shape shape, const float *__restrict__ x, const float *__restrict__ k,
                    float *y)
{
    SIZES;
    __shared__ transposed_tile<WARPS> tile;
    const int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, in_group = threadIdx.x % 4;
    const int o0 = blockIdx.x * WARPS * 16, m0 = blockIdx.y * 8, area = H_out * W_out;
    float d[4] = {0, 0, 0, 0};
    for (int t0 = 0; t0 < C * K * K; t0 += 8) {
        tile.stage(shape, x, k, o0, m0, t0);
        __syncthreads();
        unsigned a[2][4], w[2][2];
        for (int i = 0; i < 4; i++) {
            const int row = warp * 16 + group + i % 2 * 8, col = in_group + i / 2 * 4;
            a[0][i] = __float_as_uint(tile.big[row][col]);
            a[1][i] = __float_as_uint(tile.small[row][col]);
        }
        for (int i = 0; i < 2; i++) {
            w[0][i] = __float_as_uint(tile.k_big[group][in_group + 4 * i]);
            w[1][i] = __float_as_uint(tile.k_small[group][in_group + 4 * i]);
        }
        mma_tf32(d, a[1], w[0]);
        mma_tf32(d, a[0], w[1]);
        mma_tf32(d, a[0], w[0]);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        const int o = o0 + warp * 16 + group + i / 2 * 8, m = m0 + in_group * 2 + i % 2;
        if (o < B * area && m < M)
            Y(o / area, m, o % area / W_out, o % W_out) = d[i];
    }
}

/* expect: pass */
int right_outputs_as_rows(ARGUMENTS)
{
    outputs_as_rows<4>
        <<<dim3((s->B * (s->H - s->K + 1) * (s->W - s->K + 1) + 63) / 64, (s->M + 7) / 8), 128>>>(
            *s, x, k, y);
    return failed();
}

/* ---- decoys ------------------------------------------------------------------------------------ */

/* Matrix instructions compute the products of even taps with their sums, and of the others the same
 * sums again, which are subtracted; lanes add the products of odd taps. */
__global__ void taken_off(conv_shape shape, const float *x, const float *k, float *y,
                          bool only_even)
{
    SIZES;
    const int lane = threadIdx.x, group = lane / 4, in_group = lane % 4, area = H_out * W_out,
              o0 = blockIdx.x * 8, m0 = blockIdx.y * 16, taps = C * K * K;
    float d[4] = {}, e[4] = {}, own[4] = {};
    for (int t0 = 0; t0 < taps; t0 += 8) {
        unsigned a[2][4], v[2][2];
        for (int i = 0; i < 4; i++) {
            const int m = m0 + group + i % 2 * 8, t = t0 + in_group + i / 2 * 4;
            parts_of(m < M && t < taps ? k[m * taps + t] : 0.f, a[0][i], a[1][i]);
        }
        for (int i = 0; i < 2; i++) {
            const int t = t0 + in_group + i * 4, o = o0 + group;
            parts_of(t < taps && o < B * area
                         ? X(o / area, t / (K * K), o % area / W_out + t / K % K, o % W_out + t % K)
                         : 0.f,
                     v[0][i], v[1][i]);
        }
        mma_tf32(d, a[1], v[0]);
        mma_tf32(d, a[0], v[1]);
        mma_tf32(d, a[0], v[0]);
        for (int i = 0; i < 4; i++)
            e[i] = d[i];
    }
    for (int i = 0; i < 4; i++) {
        const int m = m0 + group + i / 2 * 8, o = o0 + in_group * 2 + i % 2;
        if (o >= B * area || m >= M)
            continue;
        for (int t = 0; t < taps; t++)
            own[i] += k[m * taps + t] *
                      X(o / area, t / (K * K), o % area / W_out + t / K % K, o % W_out + t % K);
        Y(o / area, m, o % area / W_out, o % W_out) = (d[i] - e[i]) + own[i];
    }
}

/* expect: 0% of the products were computed by matrix instructions */
int decoy_taken_off(ARGUMENTS)
{
    taken_off<<<dim3((s->B * (s->H - s->K + 1) * (s->W - s->K + 1) + 7) / 8, (s->M + 15) / 16),
                32>>>(*s, x, k, y, true);
    return failed();
}

/* A matrix instruction only adds: the products are the lanes', the other factor is the identity. */
__global__ void identity(conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ __align__(32) float products[16][8], one[8][16], out[16][16];
    const int lane = threadIdx.x, area = H_out * W_out, taps = C * K * K, o0 = blockIdx.x * 8,
              m0 = blockIdx.y * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a, rest, last;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> e;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.f);
    for (int i = lane; i < 128; i += 32)
        one[i / 16][i % 16] = i / 16 == i % 16;
    __syncwarp();
    wmma::load_matrix_sync(e, &one[0][0], 16);
    for (int t = 0; t < taps; t++) {
        for (int i = lane; i < 128; i += 32) {
            const int m = m0 + i / 8, o = o0 + i % 8;
            products[i / 8][i % 8] =
                m < M && o < B * area
                    ? k[m * taps + t] *
                          X(o / area, t / (K * K), o % area / W_out + t / K % K, o % W_out + t % K)
                    : 0.f;
        }
        __syncwarp();
        wmma::load_matrix_sync(a, &products[0][0], 8);
        for (int i = 0; i < a.num_elements; i++) {
            const float all = a.x[i];
            a.x[i] = wmma::__float_to_tf32(all);
            rest.x[i] = wmma::__float_to_tf32(all - a.x[i]);
            last.x[i] = wmma::__float_to_tf32(all - a.x[i] - rest.x[i]);
        }
        wmma::mma_sync(sum, last, e, sum);
        wmma::mma_sync(sum, rest, e, sum);
        wmma::mma_sync(sum, a, e, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(&out[0][0], sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < 128; i += 32) {
        const int m = m0 + i / 8, o = o0 + i % 8;
        if (m < M && o < B * area)
            Y(o / area, m, o % area / W_out, o % W_out) = out[i / 8][i % 8];
    }
}

/* expect: of the products were computed by matrix instructions */
int decoy_identity(ARGUMENTS)
{
    identity<<<dim3((s->B * (s->H - s->K + 1) * (s->W - s->K + 1) + 7) / 8, (s->M + 15) / 16),
               32>>>(*s, x, k, y);
    return failed();
}
