/* Submissions for m8 in the styles of other courses, and decoys. */
#include "common.cuh"

template <int TW, int TH, int R>
__global__ void rows_each(conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int b = blockIdx.z / M, m = blockIdx.z % M, w = blockIdx.x * TW + threadIdx.x,
              h0 = (blockIdx.y * TH + threadIdx.y) * R;
    if (w >= W_out || h0 >= H_out)
        return;
    float sum[R] = {};
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
#pragma unroll
                for (int r = 0; r < R; r++)
                    sum[r] += X(b, c, min(h0 + r + p, H - 1), w + q) * KK(m, c, p, q);
    for (int r = 0; r < R && h0 + r < H_out; r++)
        Y(b, m, h0 + r, w) = sum[r];
}
template <int TW, int TH, int R> static void go_rows(ARGUMENTS)
{
    rows_each<TW, TH, R>
        <<<dim3((s->W - s->K + TW) / TW, (s->H - s->K + TH * R) / (TH * R), s->B * s->M),
           dim3(TW, TH)>>>(*s, x, k, y);
}
/* Rows per thread by the number of input maps. */
/* expect: pass */
int rows_by_depth(ARGUMENTS)
{
    if (s->C == 1)
        go_rows<32, 8, 1>(s, x, k, y);
    else
        go_rows<16, 8, 2>(s, x, k, y);
    return failed();
}

/* A warp per output for deep layers, a thread per output for flat ones. */
__global__ void warp_each(conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const size_t i = ((size_t)blockIdx.x * 128 + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (i >= (size_t)B * M * H_out * W_out)
        return;
    UNFLAT;
    float sum = 0;
    for (int t = lane; t < C * K * K; t += 32)
        sum += X(b, t / (K * K), h + t / K % K, w + t % K) * KK(m, 0, 0, t);
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (!lane)
        y[i] = sum;
}
/* expect: pass */
int warps_when_deep(ARGUMENTS)
{
    if (s->C * s->K * s->K < 64)
        return launch_plain(s, x, k, y);
    warp_each<<<(y_floats(s) + 3) / 4, 128>>>(*s, x, k, y);
    return failed();
}

/* One kernel; for one layer it also writes what a second kernel overwrites with the same sums. */
__global__ void and_a_store(conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    if (C == 1) {
        volatile float *to = &Y(b, m, h, w);
        *to = x[0] * k[0];
    }
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++)
            sum += X(b, c, h + i / K, w + i % K) * KK(m, c, 0, i);
    Y(b, m, h, w) = sum;
}
/* expect: the same kernel and blocks for both layers */
SUBMISSION(store_for_nothing, LAUNCH(and_a_store))

/* Two copies of a kernel in one, chosen by the layer, of which one loads through the read-only cache. */
__global__ void two_caches(conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0;
    if (C == 1)
        for (int i = 0; i < K * K; i++)
            sum += __ldg(&X(b, 0, h + i / K, w + i % K)) * __ldg(&KK(m, 0, 0, i));
    else
        for (int c = 0; c < C; c++)
            for (int i = 0; i < K * K; i++)
                sum += X(b, c, h + i / K, w + i % K) * KK(m, c, 0, i);
    Y(b, m, h, w) = sum;
}
/* expect: the same kernel and blocks for both layers */
SUBMISSION(other_cache, LAUNCH(two_caches))
