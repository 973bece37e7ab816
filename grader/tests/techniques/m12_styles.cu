/* More ways to pair halves for m12: in words and 64-bit integers, by funnel shifts, bit fields and atomics. */
#include "common.cuh"
#include <cuda_fp16.h>
#include <mma.h>

/* Blocks of some outputs, counted over all images, and 16 maps. */
static dim3 blocks_of(const struct conv_shape *s, int columns)
{
    const int all = s->B * (s->H - s->K + 1) * (s->W - s->K + 1);
    return dim3((all + columns - 1) / columns, (s->M + 15) / 16);
}
static __global__ void to_half(const float *from, __half *to, size_t n, size_t all)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < all;
         i += (size_t)gridDim.x * blockDim.x)
        to[i] = i < n ? __float2half_rn(from[i]) : __half(0.f);
}
/* two neighbouring outputs in a row: aligned words of halves, odd columns by a funnel shift */
__global__ void row_pairs(struct conv_shape shape, const unsigned *__restrict__ hx,
                          const __half *__restrict__ hk, float *__restrict__ y, int pitch)
{
    SIZES;
    const int across = (W_out + 1) / 2, wp = blockIdx.x * 16 + threadIdx.x,
              h = blockIdx.y * 16 + threadIdx.y, b = blockIdx.z / M, m = blockIdx.z % M;
    if (wp >= across || h >= H_out)
        return;
    float2 sum = {0, 0};
    for (int c = 0; c < C; c++) {
        __half2 part = __float2half2_rn(0.f);
        for (int p = 0; p < K; p++) {
            const unsigned *row = hx + (((b * C + c) * H + h + p) * pitch) / 2 + wp;
            unsigned lo = row[0];
            for (int q = 0; q < K; q++) {
                unsigned pair;
                if (q & 1) {
                    const unsigned hi = row[q / 2 + 1];
                    pair = __funnelshift_r(lo, hi, 16);
                    lo = hi;
                } else
                    pair = lo;
                part = __hfma2(*reinterpret_cast<__half2 *>(&pair),
                               __half2half2(hk[((m * C + c) * K + p) * K + q]), part);
            }
        }
        const float2 f = __half22float2(part);
        sum.x += f.x;
        sum.y += f.y;
    }
    Y(b, m, h, 2 * wp) = sum.x;
    if (2 * wp + 1 < W_out)
        Y(b, m, h, 2 * wp + 1) = sum.y;
}
static __global__ void to_half_rows(const float *from, __half *to, int rows, int W, int pitch)
{
    const int r = blockIdx.x;
    for (int i = threadIdx.x; i < pitch; i += blockDim.x)
        to[r * pitch + i] = __float2half_rn(i < W ? from[r * W + i] : 0.f);
}
/* expect: pass */
int right_funnel(ARGUMENTS)
{
    const int pitch = (s->W + 3) / 2 * 2, rows = s->B * s->C * s->H;
    if (s->K > 7)
        return launch_plain(s, x, k, y);
    __half *hx = (__half *)conv_workspace(((size_t)rows * pitch + 8 + k_floats(s)) * 2),
           *hk = hx + (size_t)rows * pitch + 8;
    cudaMemsetAsync(hx + (size_t)rows * pitch, 0, 16);
    to_half_rows<<<rows, 64>>>(x, hx, rows, s->W, pitch);
    to_half<<<(k_floats(s) + 127) / 128, 128>>>(k, hk, k_floats(s), k_floats(s));
    row_pairs<<<dim3(((s->W - s->K + 2) / 2 + 15) / 16, (s->H - s->K + 16) / 16, s->B * s->M),
                dim3(16, 16)>>>(*s, (unsigned *)hx, hk, y, pitch);
    return failed();
}
/* four halves as one 64-bit integer, shifted by 16 for the next window */
static __global__ void pack4(const float *from, unsigned long long *to, int rows, int W, int words)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= rows * words)
        return;
    const int r = i / words, w = i % words * 4;
    unsigned long long v = 0;
    for (int j = 0; j < 4; j++)
        v |= (unsigned long long)__half_as_ushort(
                 __float2half(w + j < W ? from[r * W + w + j] : 0.f))
             << (16 * j);
    to[i] = v;
}
__global__ void by_quads(struct conv_shape shape, const unsigned long long *hx, const float *k,
                         float *y, int words)
{
    SIZES;
    const int pairs = (M + 1) / 2, b = blockIdx.z / pairs, m = blockIdx.z % pairs * 2,
              h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    float2 all = {0, 0};
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            const unsigned long long *row = hx + ((b * C + c) * H + h + p) * words;
            unsigned long long v = row[w / 4] >> 16 * (w % 4);
            __half2 sum = __float2half2_rn(0.f);
            for (int q = 0; q < K; q++) {
                const __half e = __ushort_as_half((unsigned short)(v & 0xffff));
                sum = __hfma2(
                    __half2half2(e),
                    __floats2half2_rn(KK(m, c, p, q), m + 1 < M ? KK(m + 1, c, p, q) : 0.f), sum);
                v = (w + q + 1) % 4 ? v >> 16 : row[(w + q + 1) / 4];
            }
            all.x += __low2float(sum);
            all.y += __high2float(sum);
        }
    Y(b, m, h, w) = all.x;
    if (m + 1 < M)
        Y(b, m + 1, h, w) = all.y;
}
/* expect: pass */
int right_quads(ARGUMENTS)
{
    const int words = s->W / 4 + 1, rows = s->B * s->C * s->H;
    if (s->K > 9)
        return launch_plain(s, x, k, y);
    unsigned long long *hx = (unsigned long long *)conv_workspace((size_t)rows * words * 8);
    pack4<<<(rows * words + 127) / 128, 128>>>(x, hx, rows, s->W, words);
    by_quads<<<tiles(s, 16, s->B * ((s->M + 1) / 2)), dim3(16, 16)>>>(*s, hx, k, y, words);
    return failed();
}
/* x tile as unsigned short in shared memory, uint2 loads of 4 neighbouring halves, bit-field insertion, accumulation in half2 over one channel */
__global__ void shorts(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ unsigned short tile[];
    const int wide = 32 + K - 1 + (K - 1) % 2, tall = 8 + K - 1, b = blockIdx.z / M,
              m = blockIdx.z % M, h0 = blockIdx.y * 8, w0 = blockIdx.x * 32,
              t = threadIdx.y * 16 + threadIdx.x;
    float a0 = 0, a1 = 0;
    for (int c = 0; c < C; c++) {
        __syncthreads();
        for (int i = t; i < wide * tall; i += 128)
            tile[i] = __half_as_ushort(__float2half(h0 + i / wide < H && w0 + i % wide < W
                                                        ? X(b, c, h0 + i / wide, w0 + i % wide)
                                                        : 0.f));
        __syncthreads();
        for (int p = 0; p < K; p++) {
            unsigned acc = 0;
            for (int q = 0; q < K; q++) {
                const unsigned short *at = &tile[(threadIdx.y + p) * wide + threadIdx.x * 2 + q];
                unsigned pair;
                asm("bfi.b32 %0, %1, %2, 16, 16;"
                    : "=r"(pair)
                    : "r"((unsigned)at[1]), "r"((unsigned)at[0]));
                const __half f = __float2half(KK(m, c, p, q));
                const __half2 ff = __halves2half2(f, f);
                asm("fma.rn.f16x2 %0, %1, %2, %0;"
                    : "+r"(acc)
                    : "r"(pair), "r"(*(const unsigned *)&ff));
            }
            unsigned lo, hi;
            asm("bfe.u32 %0, %1, 0, 16;" : "=r"(lo) : "r"(acc));
            asm("bfe.u32 %0, %1, 16, 16;" : "=r"(hi) : "r"(acc));
            a0 += __half2float(__ushort_as_half((unsigned short)lo));
            a1 += __half2float(__ushort_as_half((unsigned short)hi));
        }
    }
    const int h = h0 + threadIdx.y, w = w0 + 2 * threadIdx.x;
    if (h < H_out && w < W_out)
        Y(b, m, h, w) = a0;
    if (h < H_out && w + 1 < W_out)
        Y(b, m, h, w + 1) = a1;
}
/* expect: pass */
int right_shorts(ARGUMENTS)
{
    const int n = (32 + s->K) * (7 + s->K) * 2;
    if (n > 48000 || s->K > 9)
        return launch_plain(s, x, k, y);
    shorts<<<dim3((s->W - s->K + 32) / 32, (s->H - s->K + 8) / 8, s->B * s->M), dim3(16, 8),
             n + 4>>>(*s, x, k, y);
    return failed();
}
/* accumulator fragments of halves for 32 taps, then added to float fragments */
using namespace nvcuda;
__global__ void half_acc(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ __half a[16 * 32], f[32 * 16], part[256];
    const int taps = C * K * K, m0 = blockIdx.y * 16, cols = B * H_out * W_out,
              c0 = blockIdx.x * 16;
    float all[8] = {};
    for (int t0 = 0; t0 < taps; t0 += 32) {
        for (int i = threadIdx.x; i < 512; i += 32) {
            const int r = i / 32, tap = t0 + i % 32, tap2 = t0 + i / 16, col = c0 + i % 16;
            a[i] = m0 + r < M && tap < taps ? k[(m0 + r) * taps + tap] : 0.f;
            f[i] = col < cols && tap2 < taps
                       ? X(col / W_out / H_out, tap2 / (K * K), col / W_out % H_out + tap2 / K % K,
                           col % W_out + tap2 % K)
                       : 0.f;
        }
        __syncwarp();
        wmma::fragment<wmma::accumulator, 16, 16, 16, __half> acc;
        wmma::fill_fragment(acc, __half(0.f));
        for (int i = 0; i < 2; i++) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
            wmma::load_matrix_sync(fa, a + 16 * i, 32);
            wmma::load_matrix_sync(fb, f + 256 * i, 16);
            wmma::mma_sync(acc, fa, fb, acc);
        }
        wmma::store_matrix_sync(part, acc, 16, wmma::mem_row_major);
        __syncwarp();
        for (int i = 0; i < 8; i++)
            all[i] += __half2float(part[i * 32 + threadIdx.x]);
        __syncwarp();
    }
    for (int i = 0; i < 8; i++) {
        const int e = i * 32 + threadIdx.x, m = m0 + e / 16, col = c0 + e % 16;
        if (m < M && col < cols)
            Y(col / W_out / H_out, m, col / W_out % H_out, col % W_out) = all[i];
    }
}
/* expect: pass */
SUBMISSION_LAUNCH(right_half_accumulators, half_acc<<<blocks_of(s, 16), 32>>>(*s, x, k, y))
/* Sums of pairs by atomicAdd() of half2. */
__global__ void atomics2(struct conv_shape shape, const float *x, const float *k, __half2 *to)
{
    SIZES;
    const int pairs = (M + 1) / 2, b = blockIdx.z / pairs, m = blockIdx.z % pairs * 2,
              h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    for (int c = 0; c < C; c++) {
        __half2 sum = __float2half2_rn(0.f);
        for (int i = 0; i < K * K; i++)
            sum = __hfma2(__float2half2_rn(X(b, c, h + i / K, w + i % K)),
                          __floats2half2_rn(KK(m, c, 0, i), m + 1 < M ? KK(m + 1, c, 0, i) : 0.f),
                          sum);
        atomicAdd(&to[((b * pairs + m / 2) * H_out + h) * W_out + w], sum);
    }
}
__global__ void widened(struct conv_shape shape, const __half2 *from, float *y)
{
    PLACE;
    const __half2 v = from[((b * ((M + 1) / 2) + m / 2) * H_out + h) * W_out + w];
    Y(b, m, h, w) = m % 2 ? __high2float(v) : __low2float(v);
}
/* expect: pass */
int right_half2_atomics(ARGUMENTS)
{
    const size_t n = y_floats(s) / s->M * ((s->M + 1) / 2);
    if (s->C * s->K * s->K > 400)
        return launch_plain(s, x, k, y);
    __half2 *to = (__half2 *)conv_workspace(n * 4);
    cudaMemsetAsync(to, 0, n * 4);
    atomics2<<<tiles(s, 16, s->B * ((s->M + 1) / 2)), dim3(16, 16)>>>(*s, x, k, to);
    widened<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, to, y);
    return failed();
}
/* Two outputs of a tile's row, 16 columns apart: at the right edge only the first one exists. */
template <bool BOTH>
__global__ void columns_apart(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int b = blockIdx.z / M, m = blockIdx.z % M, h = blockIdx.y * 16 + threadIdx.y;
    const int w = BOTH ? blockIdx.x * 32 + threadIdx.x : blockIdx.x * 16 + threadIdx.x;
    const bool has_second = BOTH && w + 16 < W_out;
    if (h >= H_out || w >= W_out)
        return;
    float2 sum = {0, 0};
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            __half2 part = __float2half2_rn(0.f);
            for (int q = 0; q < K; q++) {
                const float second = has_second ? X(b, c, h + p, w + 16 + q) : 0.f;
                part = __hfma2(__floats2half2_rn(X(b, c, h + p, w + q), second),
                               __float2half2_rn(KK(m, c, p, q)), part);
            }
            sum.x += __low2float(part);
            sum.y += __high2float(part);
        }
    Y(b, m, h, w) = sum.x;
    if (has_second)
        Y(b, m, h, w + 16) = sum.y;
}
/* expect: pass */
int right_columns_apart(ARGUMENTS)
{
    const int across = (s->W - s->K + 32) / 32, down = (s->H - s->K + 16) / 16;
    columns_apart<true><<<dim3(across, down, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y);
    return failed();
}
/* expect: 0% of the products were computed in half precision */
SUBMISSION_LAUNCH(decoy_zero_beside,
                  columns_apart<false><<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y))

/* Pairs of neighbouring outputs in a row, of which y uses only the first, or both. */
template <bool BOTH>
__global__ void neighbours(struct conv_shape shape, const float *x, const float *k, float *y,
                           float never)
{
    SIZES;
    const int b = blockIdx.z / M, m = blockIdx.z % M, h = blockIdx.y * 16 + threadIdx.y;
    const int w = (blockIdx.x * 16 + threadIdx.x) * (BOTH ? 2 : 1);
    if (h >= H_out || w >= W_out)
        return;
    float first = 0, second = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            __half2 part = __float2half2_rn(0.f);
            for (int q = 0; q < K; q++)
                part = __hfma2(
                    __floats2half2_rn(X(b, c, h + p, w + q), X(b, c, h + p, min(w + q + 1, W - 1))),
                    __float2half2_rn(KK(m, c, p, q)), part);
            first += __low2float(part);
            second += __high2float(part);
        }
    Y(b, m, h, w) = first;
    if (BOTH ? w + 1 < W_out : second == never)
        Y(b, m, h, w + 1) = second;
}
/* expect: pass */
int right_neighbours(ARGUMENTS)
{
    const int across = (s->W - s->K + 32) / 32, down = (s->H - s->K + 16) / 16;
    neighbours<true><<<dim3(across, down, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y, 0);
    return failed();
}
/* expect: were computed in the same half of pairs */
SUBMISSION_LAUNCH(decoy_one_half, neighbours<false>
                  <<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y, 1e30f))

/* Two terms of one sum in each pair. WAY 0: the halves are exchanged and added, so that both contain
 * the sum; 1: the halves are added as halves; 2: the upper half is shifted out as bits. */
template <int WAY>
__global__ void two_terms(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c += 2) {
        __half2 part = __float2half2_rn(0.f);
        for (int t = 0; t < K * K; t++) {
            const bool two = c + 1 < C;
            part = __hfma2(__floats2half2_rn(X(b, c, h + t / K, w + t % K),
                                             two ? X(b, c + 1, h + t / K, w + t % K) : 0.f),
                           __floats2half2_rn(KK(m, c, 0, t), two ? KK(m, c + 1, 0, t) : 0.f), part);
        }
        if (WAY == 0)
            sum += __low2float(__hadd2(part, __lowhigh2highlow(part)));
        else if (WAY == 1)
            sum += __half2float(__hadd(__low2half(part), __high2half(part)));
        else {
            const unsigned bits = *(unsigned *)&part;
            sum += __half2float(__ushort_as_half((unsigned short)(bits >> 16))) +
                   __half2float(__ushort_as_half((unsigned short)(bits & 0xffff)));
        }
    }
    Y(b, m, h, w) = sum;
}
/* expect: pass */
SUBMISSION_LAUNCH(right_exchanged,
                  two_terms<0><<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y))
/* expect: pass */
SUBMISSION_LAUNCH(right_added_halves,
                  two_terms<1><<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y))
/* expect: pass */
SUBMISSION_LAUNCH(right_shifted_bits,
                  two_terms<2><<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y))
