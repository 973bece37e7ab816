/* Submissions for m10 in the styles of other courses, and decoys. */
#include "common.cuh"

/* A row of outputs in registers: a thread slides along 8 columns of the tile, for two maps, and keeps
 * the window's column elements. */
template <int COLS>
__global__ void sliding(conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float tile[];
    const int wide = 4 * COLS + K - 1, tall = 32 + K - 1, pairs = (M + 1) / 2,
              b = blockIdx.z / pairs, m = blockIdx.z % pairs * 2, other = min(m + 1, M - 1);
    const int h0 = blockIdx.y * 32, w0 = blockIdx.x * 4 * COLS, r = threadIdx.x,
              q0 = threadIdx.y * COLS;
    float *const weights = tile + wide * tall;
    float sum[2][COLS] = {};
    for (int c = 0; c < C; c++) {
        for (int i = threadIdx.y * 32 + threadIdx.x; i < wide * tall; i += 128) {
            const int h = h0 + i / wide, w = w0 + i % wide;
            tile[i] = h < H && w < W ? X(b, c, h, w) : 0.f;
        }
        for (int i = threadIdx.y * 32 + threadIdx.x; i < 2 * K * K; i += 128)
            weights[i] = i < K * K ? KK(m, c, 0, i) : KK(other, c, 0, i - K * K);
        __syncthreads();
        for (int p = 0; p < K; p++) {
            const float *row = tile + (r + p) * wide + q0;
            for (int q = 0; q < K; q++) {
                const float a = weights[p * K + q], e = weights[K * K + p * K + q];
#pragma unroll
                for (int j = 0; j < COLS; j++) {
                    const float v = row[q + j];
                    sum[0][j] += a * v;
                    sum[1][j] += e * v;
                }
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < COLS; j++)
            if (m + i < M && h0 + r < H_out && w0 + q0 + j < W_out)
                Y(b, m + i, h0 + r, w0 + q0 + j) = sum[i][j];
}
template <int COLS> static int go_sliding(ARGUMENTS)
{
    const size_t bytes = 4 * ((4 * COLS + s->K - 1) * (32 + s->K - 1) + 2 * (size_t)s->K * s->K);
    if (bytes > 48 << 10)
        return launch_plain(s, x, k, y);
    sliding<COLS><<<dim3((s->W - s->K + 4 * COLS) / (4 * COLS), (s->H - s->K + 32) / 32,
                         s->B * ((s->M + 1) / 2)),
                    dim3(32, 4), bytes>>>(*s, x, k, y);
    return failed();
}
/* expect: pass */
SUBMISSION(right_sliding_4, go_sliding<4>(s, x, k, y))
/* expect: pass */
SUBMISSION(right_sliding_2, go_sliding<2>(s, x, k, y))

/* A product of matrices with tiles of 32 x 32 and 4 x 4 outputs per thread, columns of all images. */
__global__ void micro_tiles(conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float a[8][33], u[8][33];
    const int taps = C * K * K, area = H_out * W_out, cols = B * area, m0 = blockIdx.y * 32,
              o0 = blockIdx.x * 32, ty = threadIdx.x / 8, tx = threadIdx.x % 8;
    float sum[4][4] = {};
    for (int t0 = 0; t0 < taps; t0 += 8) {
        for (int i = threadIdx.x; i < 256; i += 64) {
            const int t = t0 + i % 8, m = m0 + i / 8;
            a[i % 8][i / 8] = t < taps && m < M ? k[m * taps + t] : 0.f;
        }
        for (int i = threadIdx.x; i < 256; i += 64) {
            const int t = t0 + i / 32, o = o0 + i % 32;
            u[i / 32][i % 32] =
                t < taps && o < cols
                    ? X(o / area, t / (K * K), o % area / W_out + t / K % K, o % W_out + t % K)
                    : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int t = 0; t < 8; t++) {
            float f[4], g[4];
            for (int i = 0; i < 4; i++)
                f[i] = a[t][ty + 8 * i], g[i] = u[t][tx + 8 * i];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] = fmaf(f[i], g[j], sum[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const int m = m0 + ty + 8 * i, o = o0 + tx + 8 * j;
            if (m < M && o < cols)
                Y(o / area, m, o % area / W_out, o % W_out) = sum[i][j];
        }
}
/* expect: pass */
int right_micro_tiles(ARGUMENTS)
{
    const int n = s->B * (s->H - s->K + 1) * (s->W - s->K + 1);
    micro_tiles<<<dim3((n + 31) / 32, (s->M + 31) / 32), 64>>>(*s, x, k, y);
    return failed();
}

/* One output per thread; every product of the elements is made a second time into a sum that the
 * thread stores over an output which another thread overwrites later. */
__global__ void stores_neighbours(conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float tile[];
    const int side = 16 + K - 1, b = blockIdx.z / M, m = blockIdx.z % M, h0 = blockIdx.y * 16,
              w0 = blockIdx.x * 16, id = threadIdx.y * 16 + threadIdx.x;
    float own = 0, again = 0;
    for (int c = 0; c < C; c++) {
        for (int i = id; i < side * side; i += 256)
            tile[i] = X(b, c, min(h0 + i / side, H - 1), min(w0 + i % side, W - 1));
        __syncthreads();
        for (int i = 0; i < K * K; i++) {
            const float v = tile[(threadIdx.y + i / K) * side + threadIdx.x + i % K],
                        weight = KK(m, c, 0, i);
            own += v * weight;
            again += v * (weight * 0.5f);
        }
        __syncthreads();
    }
    const int h = h0 + threadIdx.y, w = w0 + threadIdx.x;
    if (h < H_out && w < W_out) {
        volatile float *to = &Y(b, m, h, w);
        *to = again;
        __threadfence();
        *to = own;
    }
}
/* expect: of the products were computed by threads that need most of their products */
int decoy_half_sum_first(ARGUMENTS)
{
    const size_t bytes = 4 * (size_t)(16 + s->K - 1) * (16 + s->K - 1);
    if (bytes > 48 << 10)
        return launch_plain(s, x, k, y);
    stores_neighbours<<<tiles(s, 16, s->B * s->M), dim3(16, 16), bytes>>>(*s, x, k, y);
    return failed();
}
