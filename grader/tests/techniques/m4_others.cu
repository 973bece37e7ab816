/* Submissions for m4 in the styles of other courses, and decoys. */
#include "m4.cuh"

/* Weights in the order of maps last: a thread reads one word per map, four maps each. */
__global__ void maps_last(float *to, const float *k, int M, int taps)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < M * taps)
        to[i % taps * M + i / taps] = k[i];
}
__global__ void four_maps(conv_shape shape, const float *x, float *y)
{
    SIZES;
    const int groups = (M + 3) / 4, m0 = blockIdx.y % groups * 4, b = blockIdx.y / groups,
              i = blockIdx.x * 128 + threadIdx.x, h = i / W_out, w = i % W_out;
    if (h >= H_out)
        return;
    float sum[4] = {};
    for (int c = 0; c < C; c++)
        for (int t = 0; t < K * K; t++) {
            const float v = X(b, c, h + t / K, w + t % K);
            for (int j = 0; j < 4 && m0 + j < M; j++)
                sum[j] += v * c_k[(c * K * K + t) * M + m0 + j];
        }
    for (int j = 0; j < 4 && m0 + j < M; j++)
        Y(b, m0 + j, h, w) = sum[j];
}
/* expect: pass */
int maps_as_last_index(ARGUMENTS)
{
    if (!fits(s))
        return launch_plain(s, x, k, y);
    float *to = floats(k_floats(s));
    const int taps = s->C * s->K * s->K, area = (s->H - s->K + 1) * (s->W - s->K + 1);
    maps_last<<<(k_floats(s) + 127) / 128, 128>>>(to, k, s->M, taps);
    cudaMemcpyToSymbolAsync(c_k, to, 4 * k_floats(s), 0, cudaMemcpyDeviceToDevice, 0);
    four_maps<<<dim3((area + 127) / 128, s->B * ((s->M + 3) / 4)), 128>>>(*s, x, y);
    return failed();
}

/* The symbol's address by cudaGetSymbolAddress(), weights as a two-dimensional copy with padded rows. */
__global__ void of_padded(conv_shape shape, const float *x, float *y, int pitch)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            const float *row = c_k + (m * C + c) * K * pitch + p * pitch;
            for (int q = 0; q < K; q++)
                sum = fmaf(row[q], X(b, c, h + p, w + q), sum);
        }
    Y(b, m, h, w) = sum;
}
/* expect: pass */
int padded_rows(ARGUMENTS)
{
    const int pitch = (s->K + 3) / 4 * 4, rows = s->M * s->C * s->K;
    void *at;
    if (rows * pitch > CONST_FLOATS)
        return launch_plain(s, x, k, y);
    cudaGetSymbolAddress(&at, c_k);
    cudaMemcpy2D(at, 4 * pitch, k, 4 * s->K, 4 * s->K, rows, cudaMemcpyDeviceToDevice);
    of_padded<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, y, pitch);
    return failed();
}

/* Weights of a group of input maps at a time, and a struct with the numbers of these maps. */
__constant__ struct {
    int first, channels;
} now;
__global__ void of_group(conv_shape shape, const float *x, float *y)
{
    PLACE;
    float sum = now.first ? Y(b, m, h, w) : 0.f;
    for (int c = 0; c < now.channels; c++)
        for (int t = 0; t < K * K; t++)
            sum +=
                X(b, now.first + c, h + t / K, w + t % K) * c_k[(m * now.channels + c) * K * K + t];
    Y(b, m, h, w) = sum;
}
/* expect: pass */
int group_by_group(ARGUMENTS)
{
    const int taps = s->K * s->K;
    int group = CONST_FLOATS / (s->M * taps);
    if (group == 0)
        return launch_plain(s, x, k, y);
    group = group < s->C ? group : s->C;
    float *at;
    cudaGetSymbolAddress((void **)&at, c_k);
    for (int c = 0; c < s->C; c += group) {
        const int n = s->C - c < group ? s->C - c : group, head[2] = {c, n};
        cudaMemcpyToSymbol(now, head, sizeof head);
        cudaMemcpy2D(at, 4 * n * taps, k + c * taps, 4 * s->C * taps, 4 * n * taps, s->M,
                     cudaMemcpyDeviceToDevice);
        of_group<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, y);
    }
    return failed();
}

/* ---- decoys ---- */

/* The larger of two equal weights. */
CONV(larger_kernel, fmaxf(KK(m, c, p, q), c_k[AT]))
/* expect: of the products summed into y take k from a __constant__ variable */
SUBMISSION(larger_of_both, FILLED(LAUNCH(larger_kernel)))
