/* m2's kernel with its weights in constant memory. If they do not fit, it works in portions of the
 * output maps, or, if one map's weights do not fit, of the input maps, and adds to y. */
#include "conv.h"

#define MAX_WEIGHTS 16384
__constant__ float weights[MAX_WEIGHTS];

__global__ void conv_const(const float *x, float *y, int m0, int m_all, int c0, int c_now, int C,
                           int H, int W, int K, int W_tiles)
{
    int H_out = H - K + 1;
    int W_out = W - K + 1;
    int b = blockIdx.x;
    int m = blockIdx.y;
    int h = blockIdx.z / W_tiles * 16 + threadIdx.y;
    int w = blockIdx.z % W_tiles * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    size_t out = (((size_t)b * m_all + m0 + m) * H_out + h) * W_out + w;
    float sum = c0 > 0 ? y[out] : 0.0f;
    for (int c = 0; c < c_now; c++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                sum += x[(((size_t)b * C + c0 + c) * H + h + p) * W + w + q] *
                       weights[((m * c_now + c) * K + p) * K + q];
    y[out] = sum;
}

/* For a filter that does not fit alone: as many of its rows as fit, one map after the other. */
__global__ void conv_rows(const float *x, float *y, int m, int M, int c, int C, int p0, int rows,
                          int H, int W, int K, int W_tiles)
{
    int H_out = H - K + 1, W_out = W - K + 1, b = blockIdx.x;
    int h = blockIdx.z / W_tiles * 16 + threadIdx.y, w = blockIdx.z % W_tiles * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    size_t out = (((size_t)b * M + m) * H_out + h) * W_out + w;
    float sum = c || p0 ? y[out] : 0.0f;
    for (int p = 0; p < rows; p++)
        for (int q = 0; q < K; q++)
            sum += x[(((size_t)b * C + c) * H + h + p0 + p) * W + w + q] * weights[p * K + q];
    y[out] = sum;
}

static int fill(const float *k, size_t from, size_t n)
{
    return cudaMemcpyToSymbolAsync(weights, k + from, n * sizeof(float), 0,
                                   cudaMemcpyDeviceToDevice) != cudaSuccess;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    const int wt = (W_out + 15) / 16, ht = (H_out + 15) / 16;
    const int filter = s->K * s->K;
    const dim3 block(16, 16);
    if ((size_t)s->C * filter <= MAX_WEIGHTS) {
        const int maps = MAX_WEIGHTS / (s->C * filter);
        for (int m = 0; m < s->M; m += maps) {
            const int now = s->M - m < maps ? s->M - m : maps;
            if (fill(k, (size_t)m * s->C * filter, (size_t)now * s->C * filter))
                return 1;
            conv_const<<<dim3(s->B, now, wt * ht), block>>>(x, y, m, s->M, 0, s->C, s->C, s->H,
                                                            s->W, s->K, wt);
        }
    } else if (filter <= MAX_WEIGHTS) {
        const int maps = MAX_WEIGHTS / filter;
        for (int m = 0; m < s->M; m++)
            for (int c = 0; c < s->C; c += maps) {
                const int now = s->C - c < maps ? s->C - c : maps;
                if (fill(k, ((size_t)m * s->C + c) * filter, (size_t)now * filter))
                    return 1;
                conv_const<<<dim3(s->B, 1, wt * ht), block>>>(x, y, m, s->M, c, now, s->C, s->H,
                                                              s->W, s->K, wt);
            }
    } else {
        const int most = MAX_WEIGHTS / s->K;
        if (!most)
            return 1; /* a row of 16384 weights */
        for (int m = 0; m < s->M; m++)
            for (int c = 0; c < s->C; c++)
                for (int p = 0; p < s->K; p += most) {
                    const int rows = s->K - p < most ? s->K - p : most;
                    if (fill(k, (((size_t)m * s->C + c) * s->K + p) * s->K, (size_t)rows * s->K))
                        return 1;
                    conv_rows<<<dim3(s->B, 1, wt * ht), block>>>(x, y, m, s->M, c, s->C, p, rows,
                                                                 s->H, s->W, s->K, wt);
                }
    }
    return cudaGetLastError() != cudaSuccess;
}
