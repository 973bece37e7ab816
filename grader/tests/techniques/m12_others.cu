/* Submissions for m12 in the styles of other courses, and decoys. */
#include "common.cuh"
#include <cuda_fp16.h>
#include <mma.h>

/* ---- pairs of images, and a plain kernel in halves for an odd last image ----------------------- */

template <bool PAIR>
__global__ void of_images(conv_shape shape, const float *x, const float *k, float *y, int first)
{
    SIZES;
    const int w = blockIdx.x * 32 + threadIdx.x, h = blockIdx.y * 8 + threadIdx.y,
              m = blockIdx.z % M, b = first + blockIdx.z / M * 2;
    if (w >= W_out || h >= H_out)
        return;
    float one = 0, two = 0;
    for (int c = 0; c < C; c++) {
        half2 acc = __float2half2_rn(0.f);
        for (int p = 0; p < K; p++) {
            for (int q = 0; q < K; q++) {
                const half2 v = __floats2half2_rn(X(b, c, h + p, w + q),
                                                  PAIR ? X(b + 1, c, h + p, w + q) : 0.f);
                acc = __hfma2(v, __float2half2_rn(KK(m, c, p, q)), acc);
            }
            if (p % 8 == 7 || p == K - 1) {
                one += __low2float(acc);
                two += __high2float(acc);
                acc = __float2half2_rn(0.f);
            }
        }
    }
    Y(b, m, h, w) = one;
    if (PAIR)
        Y(b + 1, m, h, w) = two;
}

/* expect: pass */
int right_even_images(ARGUMENTS)
{
    dim3 block(32, 8), grid((s->W - s->K + 32) / 32, (s->H - s->K + 8) / 8, s->B / 2 * s->M);
    if (s->B > 1)
        of_images<true><<<grid, block>>>(*s, x, k, y, 0);
    grid.z = s->M;
    if (s->B % 2)
        of_images<false><<<grid, block>>>(*s, x, k, y, s->B - 1);
    return failed();
}

/* ---- whole tensors as halves, products of half2, sums of floats -------------------------------- */

__global__ void to_halves(const float *from, half *to, size_t n)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        to[i] = __float2half(from[i]);
}

__global__ void two_columns(conv_shape shape, const half *x, const half *k, float *y)
{
    SIZES;
    const int w = 2 * (blockIdx.x * 16 + threadIdx.x), h = blockIdx.y * 16 + threadIdx.y,
              m = blockIdx.z % M, b = blockIdx.z / M;
    if (w >= W_out || h >= H_out)
        return;
    float left = 0.f, right = 0.f;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            half a = X(b, c, h + p, w);
            for (int q = 0; q < K; q++) {
                const half next = w + q + 1 < W ? X(b, c, h + p, w + q + 1) : __float2half(0.f);
                const float2 r =
                    __half22float2(__hmul2(__halves2half2(a, next), __half2half2(KK(m, c, p, q))));
                left += r.x;
                right += r.y;
                a = next;
            }
        }
    Y(b, m, h, w) = left;
    if (w + 1 < W_out)
        Y(b, m, h, w + 1) = right;
}

/* expect: pass */
int right_tensors_of_halves(ARGUMENTS)
{
    half *hx = (half *)conv_workspace((x_floats(s) + k_floats(s) + 2) * sizeof(half));
    half *hk = hx + (x_floats(s) + 1) / 2 * 2;
    to_halves<<<64, 256>>>(x, hx, x_floats(s));
    to_halves<<<4, 256>>>(k, hk, k_floats(s));
    const dim3 grid((s->W - s->K + 1 + 31) / 32, (s->H - s->K + 16) / 16, s->B * s->M);
    two_columns<<<grid, dim3(16, 16)>>>(*s, hx, hk, y);
    return failed();
}

/* ---- a tile of pairs of rows in shared memory, weights in constant memory, inline PTX ---------- */

__constant__ unsigned pair_weights[12288];

__global__ void weights_twice(const float *k, unsigned *to, int n)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) {
        const half2 w = __float2half2_rn(k[i]);
        to[i] = *(const unsigned *)&w;
    }
}

__global__ void rows_in_pairs(conv_shape shape, const float *x, float *y)
{
    SIZES;
    extern __shared__ unsigned s_pairs[];
    const int wide = 16 + K - 1, tall = 8 + K - 1, b = blockIdx.z / M, m = blockIdx.z % M;
    const int h0 = blockIdx.y * 16, w0 = blockIdx.x * 16, h = h0 + 2 * threadIdx.y,
              w = w0 + threadIdx.x;
    float2 total = {0.f, 0.f};
    for (int c = 0; c < C; c++) {
        /* word (r, j): elements of rows r and r + 1 */
        for (int i = threadIdx.y * 16 + threadIdx.x; i < wide * (2 * tall - K + 1); i += 128) {
            const int r = min(h0 + i / wide, H - 1), j = min(w0 + i % wide, W - 1);
            const half2 v = __floats2half2_rn(X(b, c, r, j), X(b, c, min(r + 1, H - 1), j));
            s_pairs[i] = *(const unsigned *)&v;
        }
        __syncthreads();
        for (int p = 0; p < K; p++) {
            unsigned sum = 0;
            for (int q = 0; q < K; q++)
                asm("fma.rn.f16x2 %0, %1, %2, %0;"
                    : "+r"(sum)
                    : "r"(s_pairs[(2 * threadIdx.y + p) * wide + threadIdx.x + q]),
                      "r"(pair_weights[((m * C + c) * K + p) * K + q]));
            const float2 part = __half22float2(*(half2 *)&sum);
            total.x += part.x;
            total.y += part.y;
        }
        __syncthreads();
    }
    if (w < W_out && h < H_out)
        Y(b, m, h, w) = total.x;
    if (w < W_out && h + 1 < H_out)
        Y(b, m, h + 1, w) = total.y;
}

/* expect: pass */
int right_rows_in_pairs(ARGUMENTS)
{
    const int n = (int)k_floats(s);
    const size_t bytes = 4 * (size_t)(16 + s->K - 1) * (2 * (8 + s->K - 1) - s->K + 1);
    if (n > 12288 || bytes > 48 << 10) {
        of_images<false>
            <<<dim3((s->W - s->K + 32) / 32, (s->H - s->K + 8) / 8, s->M), dim3(32, 8)>>>(*s, x, k,
                                                                                          y, 0);
        for (int b = 1; b < s->B; b++)
            of_images<false>
                <<<dim3((s->W - s->K + 32) / 32, (s->H - s->K + 8) / 8, s->M), dim3(32, 8)>>>(
                    *s, x, k, y, b);
        return failed();
    }
    unsigned *twice = (unsigned *)conv_workspace(4 * n);
    weights_twice<<<(n + 127) / 128, 128>>>(k, twice, n);
    cudaMemcpyToSymbolAsync(pair_weights, twice, 4 * n, 0, cudaMemcpyDeviceToDevice);
    rows_in_pairs<<<dim3((s->W - s->K + 16) / 16, (s->H - s->K + 16) / 16, s->B * s->M),
                    dim3(16, 8), bytes>>>(*s, x, y);
    return failed();
}

/* ---- tensor cores: implicit matrix product, four warps share the weights ----------------------- */

__global__ void wmma_halves(conv_shape shape, const float *x, const float *k, float *y)
{
    using namespace nvcuda;
    SIZES;
    __shared__ __align__(32) half a[16 * 16], v[4][16 * 16];
    __shared__ __align__(32) float out[4][16 * 16];
    const int warp = threadIdx.y, lane = threadIdx.x, taps = C * K * K, area = H_out * W_out,
              m0 = blockIdx.y * 16, o0 = (blockIdx.x * 4 + warp) * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.f);
    for (int t0 = 0; t0 < taps; t0 += 16) {
        for (int i = warp * 32 + lane; i < 256; i += 128)
            a[i] = __float2half(m0 + i / 16 < M && t0 + i % 16 < taps
                                    ? k[(m0 + i / 16) * taps + t0 + i % 16]
                                    : 0.f);
        for (int i = lane; i < 256; i += 32) {
            const int t = t0 + i % 16, o = o0 + i / 16;
            v[warp][i] = __float2half(
                t < taps && o < B * area
                    ? X(o / area, t / (K * K), o % area / W_out + t / K % K, o % W_out + t % K)
                    : 0.f);
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
        wmma::load_matrix_sync(fa, a, 16);
        wmma::load_matrix_sync(fb, v[warp], 16);
        wmma::mma_sync(acc, fa, fb, acc);
        __syncthreads();
    }
    wmma::store_matrix_sync(out[warp], acc, 16, wmma::mem_col_major);
    __syncwarp();
    for (int i = lane; i < 256; i += 32) {
        const int m = m0 + i % 16, o = o0 + i / 16;
        if (m < M && o < B * area)
            Y(o / area, m, o % area / W_out, o % W_out) = out[warp][i];
    }
}

/* expect: pass */
int right_wmma_halves(ARGUMENTS)
{
    wmma_halves<<<dim3((s->B * (s->H - s->K + 1) * (s->W - s->K + 1) + 63) / 64, (s->M + 15) / 16),
                  dim3(32, 4)>>>(*s, x, k, y);
    return failed();
}

/* ---- two taps of a dot product, from a row loaded as words of two halves ----------------------- */

__global__ void dot_of_pairs(conv_shape shape, const float *__restrict__ x,
                             const float *__restrict__ k, float *__restrict__ y)
{
    FLAT_PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            const float *in = &X(b, c, h + p, w), *weight = &KK(m, c, p, 0);
            half2 pair = __floats2half2_rn(0.f, 0.f);
            int q = 0;
#pragma unroll 4
            for (; q + 1 < K; q += 2)
                pair = __hfma2(__floats2half2_rn(in[q], in[q + 1]),
                               __floats2half2_rn(weight[q], weight[q + 1]), pair);
            sum += __low2float(pair) + __high2float(pair);
            if (K % 2) /* the last tap alone */
                sum += in[K - 1] * weight[K - 1];
        }
    y[i] = sum;
}

/* expect: pass */
SUBMISSION_LAUNCH(right_odd_tap_alone,
                  dot_of_pairs<<<(y_floats(s) + 255) / 256, 256>>>(*s, x, k, y))

/* ---- decoys ------------------------------------------------------------------------------------ */

/* Pairs of halves are only added: the products are float32. */
__global__ void adds_pairs(conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        half2 pair = __float2half2_rn(0.f);
        const half2 one = __float2half2_rn(1.f);
        for (int i = 0; i < K * K; i += 2)
            pair = __hfma2(__floats2half2_rn(X(b, c, h + i / K, w + i % K) * KK(m, c, 0, i),
                                             i + 1 < K * K
                                                 ? X(b, c, h + (i + 1) / K, w + (i + 1) % K) *
                                                       KK(m, c, 0, i + 1)
                                                 : 0.f),
                           one, pair);
        sum += __low2float(pair) + __high2float(pair);
    }
    Y(b, m, h, w) = sum;
}
/* expect: of the products were computed in half precision */
SUBMISSION(decoy_adds_pairs, LAUNCH(adds_pairs))

/* Pairs for the maps of which the products of the other half are dropped by a multiplication by 0. */
__global__ void half_times_zero(conv_shape shape, const float *x, const float *k, float *y,
                                float zero)
{
    PLACE;
    float sum = 0, other = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            half2 acc = __float2half2_rn(0.f);
            for (int q = 0; q < K; q++)
                acc = __hfma2(__float2half2_rn(X(b, c, h + p, w + q)),
                              __floats2half2_rn(KK(m, c, p, q), KK((m + 1) % M, c, p, q)), acc);
            sum += __low2float(acc);
            other += __high2float(acc);
        }
    Y(b, m, h, w) = sum + zero * other;
}
/* expect: of the products */
SUBMISSION_LAUNCH(decoy_half_times_zero,
                  half_times_zero<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y, 0.f))
