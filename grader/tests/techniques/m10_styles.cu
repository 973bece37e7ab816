/* More register tiles for m10: blocks that extend past the edges. */
#include "common.cuh"

/* Zero-filled tiles of x. ROWS outputs in a column, MAPS maps per thread */
template <int T, int ROWS, int MAPS>
__global__ void zero_filled(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s[];
    const int pitch = T + K - 1, tall = T * ROWS + K - 1, id = threadIdx.y * T + threadIdx.x;
    float *sk = s + pitch * tall;
    const int groups = (M + MAPS - 1) / MAPS, b = blockIdx.z / groups,
              m0 = blockIdx.z % groups * MAPS, h0 = blockIdx.y * T * ROWS, w0 = blockIdx.x * T;
    float sum[MAPS][ROWS] = {};
    for (int c = 0; c < C; c++) {
        for (int i = id; i < pitch * tall; i += T * T)
            s[i] = h0 + i / pitch < H && w0 + i % pitch < W
                       ? X(b, c, h0 + i / pitch, w0 + i % pitch)
                       : 0.f;
        for (int i = id; i < MAPS * K * K; i += T * T)
            sk[i] = m0 + i / (K * K) < M ? KK(m0 + i / (K * K), c, 0, i % (K * K)) : 0.f;
        __syncthreads();
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++) {
                float v[ROWS];
#pragma unroll
                for (int r = 0; r < ROWS; r++)
                    v[r] = s[(threadIdx.y + T * r + p) * pitch + threadIdx.x + q];
#pragma unroll
                for (int m = 0; m < MAPS; m++)
#pragma unroll
                    for (int r = 0; r < ROWS; r++)
                        sum[m][r] += v[r] * sk[(m * K + p) * K + q];
            }
        __syncthreads();
    }
#pragma unroll
    for (int m = 0; m < MAPS; m++)
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int h = h0 + threadIdx.y + T * r, w = w0 + threadIdx.x;
            if (m0 + m < M && h < H_out && w < W_out)
                Y(b, m0 + m, h, w) = sum[m][r];
        }
}
template <int T, int ROWS, int MAPS> static int go(ARGUMENTS)
{
    const size_t bytes = 4 * ((T + s->K - 1) * (T * ROWS + s->K - 1) + (size_t)MAPS * s->K * s->K);
    if (bytes > 48 << 10)
        return launch_plain(s, x, k, y);
    zero_filled<T, ROWS, MAPS><<<dim3((s->W - s->K + T) / T, (s->H - s->K + T * ROWS) / (T * ROWS),
                                      s->B * ((s->M + MAPS - 1) / MAPS)),
                                 dim3(T, T), bytes>>>(*s, x, k, y);
    return failed();
}
/* expect: pass */
SUBMISSION(right_zero_16_1_6, go<16, 1, 6>(s, x, k, y))
/* expect: pass */
SUBMISSION(right_zero_16_2_2, go<16, 2, 2>(s, x, k, y))
/* expect: pass */
SUBMISSION(right_zero_8_4_4, go<8, 4, 4>(s, x, k, y))

/* One output per thread, and zeros that are multiplied by the same instruction. */
__global__ void zeros_in_loop(struct conv_shape shape, const float *x, const float *k, float *y,
                              int used)
{
    SIZES;
    extern __shared__ float s[];
    const int side = 16 + K - 1, b = blockIdx.z / M, m = blockIdx.z % M, h0 = blockIdx.y * 16,
              w0 = blockIdx.x * 16, t = threadIdx.y * 16 + threadIdx.x;
    float *sk = s + side * side;
    float a = 0;
    for (int c = 0; c < C; c++) {
        for (int i = t; i < side * side; i += 256)
            s[i] =
                h0 + i / side < H && w0 + i % side < W ? X(b, c, h0 + i / side, w0 + i % side) : 0;
        for (int i = t; i < K * K; i += 256)
            sk[i] = KK(m, c, 0, i);
        __syncthreads();
        for (int i = 0; i < K * K; i++) {
            const float v = s[(threadIdx.y + i / K) * side + threadIdx.x + i % K], f = sk[i];
#pragma unroll 1
            for (int j = 0; j < 4; j++)
                a = fmaf(v, j < used ? f : 0.f, a);
        }
        __syncthreads();
    }
    const int h = h0 + threadIdx.y, w = w0 + threadIdx.x;
    if (h < H_out && w < W_out)
        Y(b, m, h, w) = a;
}
/* expect: of the products were computed by threads that loaded about two elements for each */
int decoy_zero_rounds(ARGUMENTS)
{
    const int n = ((15 + s->K) * (15 + s->K) + s->K * s->K) * 4;
    if (n > 48000)
        return launch_plain(s, x, k, y);
    zeros_in_loop<<<tiles(s, 16, s->B * s->M), dim3(16, 16), n>>>(*s, x, k, y, 1);
    return failed();
}
/* One output a thread, whose products are computed twice from registers. */
__global__ void twice(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float tile[];
    const int b = blockIdx.z / M, m = blockIdx.z % M, h0 = blockIdx.y * 16, w0 = blockIdx.x * 16;
    const int wide = 16 + K - 1, h = h0 + threadIdx.y, w = w0 + threadIdx.x;
    float sum = 0, again = 0;
    for (int c = 0; c < C; c++) {
        for (int i = threadIdx.y * 16 + threadIdx.x; i < wide * wide; i += 256)
            tile[i] =
                h0 + i / wide < H && w0 + i % wide < W ? X(b, c, h0 + i / wide, w0 + i % wide) : 0;
        __syncthreads();
        for (int t = 0; t < K * K; t++) {
            const float v = tile[(threadIdx.y + t / K) * wide + threadIdx.x + t % K],
                        f = KK(m, c, 0, t);
            sum = __fmaf_rn(v, f, sum);
            again = __fmaf_rn(v, -f, again);
        }
        __syncthreads();
    }
    if (h < H_out && w < W_out)
        Y(b, m, h, w) = 0.5f * sum - 0.5f * again;
}
/* expect: products were computed for each product that y needs */
int decoy_each_twice(ARGUMENTS)
{
    const int bytes = (15 + s->K) * (15 + s->K) * (int)sizeof(float);
    cudaFuncSetAttribute(twice, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    twice<<<tiles(s, 16, s->B * s->M), dim3(16, 16), bytes>>>(*s, x, k, y);
    return failed();
}

/* Two rows and four maps per thread, but in some blocks a thread loads both factors of each product
 * again: in a third of the groups of maps, or only below the last whole tile. */
template <bool THIRD>
__global__ void some_alone(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    enum { T = 8, ROWS = 2, MAPS = 4 };
    extern __shared__ float s[];
    const int pitch = T + K - 1, tall = T * ROWS + K - 1, id = threadIdx.y * T + threadIdx.x;
    float *sk = s + pitch * tall;
    const int groups = (M + MAPS - 1) / MAPS, b = blockIdx.z / groups,
              m0 = blockIdx.z % groups * MAPS, h0 = blockIdx.y * T * ROWS, w0 = blockIdx.x * T;
    const bool alone = THIRD ? blockIdx.z % 3 == 0 : h0 + T * ROWS > H_out;
    float sum[MAPS][ROWS] = {};
    for (int c = 0; c < C; c++) {
        for (int i = id; i < pitch * tall; i += T * T)
            s[i] = h0 + i / pitch < H && w0 + i % pitch < W
                       ? X(b, c, h0 + i / pitch, w0 + i % pitch)
                       : 0.f;
        for (int i = id; i < MAPS * K * K; i += T * T)
            sk[i] = m0 + i / (K * K) < M ? KK(m0 + i / (K * K), c, 0, i % (K * K)) : 0.f;
        __syncthreads();
        const volatile float *again = s, *weight = sk;
        const int at = threadIdx.y * pitch + threadIdx.x;
        for (int t = 0; t < K * K; t++) {
            float v[ROWS];
            if (alone) {
#pragma unroll
                for (int i = 0; i < MAPS * ROWS; i++)
                    sum[i / ROWS][i % ROWS] +=
                        again[at + (T * (i % ROWS) + t / K) * pitch + t % K] *
                        weight[i / ROWS * K * K + t];
                continue;
            }
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                v[r] = s[at + (T * r + t / K) * pitch + t % K];
#pragma unroll
            for (int i = 0; i < MAPS * ROWS; i++)
                sum[i / ROWS][i % ROWS] += v[i % ROWS] * sk[i / ROWS * K * K + t];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < MAPS * ROWS; i++) {
        const int m = m0 + i / ROWS, h = h0 + threadIdx.y + T * (i % ROWS), w = w0 + threadIdx.x;
        if (m < M && h < H_out && w < W_out)
            Y(b, m, h, w) = sum[i / ROWS][i % ROWS];
    }
}
template <bool THIRD> static int go_some(ARGUMENTS)
{
    const size_t bytes = 4 * ((7 + s->K) * (15 + s->K) + (size_t)4 * s->K * s->K);
    if (bytes > 48 << 10)
        return launch_plain(s, x, k, y);
    some_alone<THIRD>
        <<<dim3((s->W - s->K + 8) / 8, (s->H - s->K + 16) / 16, s->B * ((s->M + 3) / 4)),
           dim3(8, 8), bytes>>>(*s, x, k, y);
    return failed();
}
/* expect: of the products were computed by threads that loaded about two elements for each */
SUBMISSION(decoy_third_alone, go_some<true>(s, x, k, y))
/* expect: pass */
SUBMISSION(right_rest_alone, go_some<false>(s, x, k, y))

/* Four outputs per thread, 16 columns apart: in the network's layers nearly two of them are past the edge, where x is 0. */
template <int TAPS>
__global__ void coarsened(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    enum { T = 16, FACTOR = 4 };
    extern __shared__ float s[];
    const int pitch = T * FACTOR + K - 1, tall = T + K - 1, b = blockIdx.z / M, m = blockIdx.z % M;
    const int h0 = blockIdx.y * T, w0 = blockIdx.x * T * FACTOR, h = h0 + threadIdx.y;
    float sum[FACTOR] = {};
    for (int c = 0; c < C; c++) {
        for (int r = threadIdx.y; r < tall; r += T)
            for (int i = threadIdx.x; i < pitch; i += T)
                s[r * pitch + i] = h0 + r < H && w0 + i < W ? X(b, c, h0 + r, w0 + i) : 0.f;
        __syncthreads();
#pragma unroll(TAPS)
        for (int t = 0; t < K * K; t++)
            for (int i = 0; i < FACTOR; i++)
                sum[i] +=
                    s[(threadIdx.y + t / K) * pitch + threadIdx.x + T * i + t % K] * KK(m, c, 0, t);
        __syncthreads();
    }
    for (int i = 0; i < FACTOR; i++) {
        const int w = w0 + threadIdx.x + T * i;
        if (h < H_out && w < W_out)
            Y(b, m, h, w) = sum[i];
    }
}
template <int TAPS> static int go_coarsened(ARGUMENTS)
{
    const size_t bytes = 4 * (63 + s->K) * (15 + s->K);
    if (bytes > 48 << 10)
        return launch_plain(s, x, k, y);
    coarsened<TAPS><<<dim3((s->W - s->K + 64) / 64, (s->H - s->K + 16) / 16, s->B * s->M),
                      dim3(16, 16), bytes>>>(*s, x, k, y);
    return failed();
}
/* expect: pass */
SUBMISSION(right_coarsened, go_coarsened<1>(s, x, k, y))
/* expect: pass */
SUBMISSION(right_coarsened_unrolled, go_coarsened<4>(s, x, k, y))

/* One output per thread, whose weights come from shared memory by compare-and-swaps that never swap. */
__global__ void swaps(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s[];
    const int side = 15 + K, id = threadIdx.y * 16 + threadIdx.x;
    const int b = blockIdx.z / M, m = blockIdx.z % M, h0 = blockIdx.y * 16, w0 = blockIdx.x * 16;
    int *const sk = (int *)(s + side * side);
    float sum = 0;
    for (int c = 0; c < C; c++) {
        for (int i = id; i < side * side; i += 256)
            s[i] = h0 + i / side < H && w0 + i % side < W ? X(b, c, h0 + i / side, w0 + i % side)
                                                          : 0.f;
        for (int i = id; i < K * K; i += 256)
            sk[i] = __float_as_int(KK(m, c, 0, i));
        __syncthreads();
        for (int t = 0; t < K * K; t++)
            sum += s[(threadIdx.y + t / K) * side + threadIdx.x + t % K] *
                   __int_as_float(atomicCAS(&sk[t], 0x7fc00001, 0x7fc00001));
        __syncthreads();
    }
    const int h = h0 + threadIdx.y, w = w0 + threadIdx.x;
    if (h < H_out && w < W_out)
        Y(b, m, h, w) = sum;
}
/* expect: elements of x and k were loaded for each product */
int decoy_weights_by_swaps(ARGUMENTS)
{
    const size_t bytes = 4 * ((15 + s->K) * (15 + s->K) + (size_t)s->K * s->K);
    if (bytes > 48 << 10)
        return launch_plain(s, x, k, y);
    swaps<<<tiles(s, 16, s->B * s->M), dim3(16, 16), bytes>>>(*s, x, k, y);
    return failed();
}
