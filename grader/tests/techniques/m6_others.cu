/* Submissions for m6 in the styles of other courses, and a decoy. */
#include "common.cuh"

/* Blocks of 8 maps x 64 outputs of one image; indices are advanced, not divided. */
template <bool BY_THREAD>
__global__ void advanced(conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float a[8][9], u[8][64];
    const int taps = C * K * K, area = H_out * W_out, b = blockIdx.z, m0 = blockIdx.y * 8,
              o0 = blockIdx.x * 64, tx = threadIdx.x % 64, ty = threadIdx.x / 64;
    const int o = o0 + tx, h = o / W_out, w = o % W_out;
    float sum[2] = {};
    int c = 0, p = 0, q = ty; /* the tap of this thread's element */
    for (int t0 = 0; t0 < taps; t0 += 8) {
        for (int j = 0; j < 2; j++, q += 4) {
            while (q >= K) {
                q -= K;
                if (++p == K)
                    p = 0, c++;
            }
            u[ty + 4 * j][tx] = c < C && o < area ? X(b, c, h + p, w + q) : 0.f;
        }
        if (threadIdx.x < 64) {
            const int m = m0 + threadIdx.x / 8, t = t0 + threadIdx.x % 8;
            a[threadIdx.x / 8][threadIdx.x % 8] = m < M && t < taps ? k[m * taps + t] : 0.f;
        }
        __syncthreads();
        for (int t = 0; t < 8; t++) {
            const float v = BY_THREAD ? X(b, min((t0 + t) / (K * K), C - 1),
                                          min(h, H_out - 1) + (t0 + t) / K % K, w + (t0 + t) % K)
                                      : u[t][tx];
            for (int j = 0; j < 2; j++)
                sum[j] += a[ty + 4 * j][t] * v;
        }
        __syncthreads();
    }
    for (int j = 0; j < 2; j++)
        if (m0 + ty + 4 * j < M && o < area)
            Y(b, m0 + ty + 4 * j, h, w) = sum[j];
}
template <bool BY_THREAD> static int go_advanced(ARGUMENTS)
{
    const int area = (s->H - s->K + 1) * (s->W - s->K + 1);
    advanced<BY_THREAD><<<dim3((area + 63) / 64, (s->M + 7) / 8, s->B), 256>>>(*s, x, k, y);
    return failed();
}
/* expect: pass */
SUBMISSION(advanced_indices, go_advanced<false>(s, x, k, y))
/* expect: take x from shared memory */
SUBMISSION(tile_beside, go_advanced<true>(s, x, k, y))

/* All taps of the 16 x 16 outputs' columns of one input map in shared memory. */
__global__ void map_of_columns(conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s_u[];
    const int o0 = blockIdx.x * 32, b = blockIdx.z, m = blockIdx.y * 8 + threadIdx.y,
              area = H_out * W_out, taps = K * K, id = threadIdx.y * 32 + threadIdx.x;
    float *const s_k = s_u + taps * 32;
    float sum = 0;
    for (int c = 0; c < C; c++) {
        for (int i = id; i < taps * 32; i += 256) {
            const int o = o0 + i % 32, t = i / 32;
            s_u[i] = o < area ? X(b, c, o / W_out + t / K, o % W_out + t % K) : 0.f;
        }
        for (int i = id; i < taps * 8; i += 256)
            s_k[i] =
                blockIdx.y * 8 + i / taps < M ? KK(blockIdx.y * 8 + i / taps, c, 0, i % taps) : 0.f;
        __syncthreads();
        for (int t = 0; t < taps; t++)
            sum = fmaf(s_k[threadIdx.y * taps + t], s_u[t * 32 + threadIdx.x], sum);
        __syncthreads();
    }
    const int o = o0 + threadIdx.x;
    if (m < M && o < area)
        Y(b, m, o / W_out, o % W_out) = sum;
}
/* expect: pass */
int map_by_map(ARGUMENTS)
{
    const int area = (s->H - s->K + 1) * (s->W - s->K + 1);
    const size_t bytes = 4 * (size_t)s->K * s->K * 40;
    if (bytes > 48 << 10)
        return launch_plain(s, x, k, y);
    map_of_columns<<<dim3((area + 31) / 32, (s->M + 7) / 8, s->B), dim3(32, 8), bytes>>>(*s, x, k,
                                                                                         y);
    return failed();
}
