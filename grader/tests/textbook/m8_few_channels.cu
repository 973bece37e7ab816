/* Layers with one input map: a thread's window in registers, a loop over all maps. Other layers:
 * tile and halo, with the weights in constant memory if they fit. */
#include "conv.h"

__constant__ float ck[16384];

template <int K>
__global__ void one_channel(const float *x, const float *k, float *y, int M, int H, int W)
{
    const int H_out = H - K + 1, W_out = W - K + 1;
    const int w = blockIdx.x * 32 + threadIdx.x, h = blockIdx.y * 8 + threadIdx.y;
    const size_t b = blockIdx.z;
    if (h >= H_out || w >= W_out)
        return;
    float window[K][K];
    for (int p = 0; p < K; p++)
        for (int q = 0; q < K; q++)
            window[p][q] = x[(b * H + h + p) * W + w + q];
    for (int m = 0; m < M; m++) {
        float sum = 0;
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                sum += window[p][q] * k[(m * K + p) * K + q];
        y[((b * M + m) * H_out + h) * W_out + w] = sum;
    }
}

template <bool CONSTANT>
__global__ void halo(const float *x, const float *k, float *y, int B, int M, int C, int H, int W,
                     int K)
{
    extern __shared__ float tile[];
    const int H_out = H - K + 1, W_out = W - K + 1, side = 16 + K - 1;
    const int tiles = (W_out + 15) / 16;
    const int h0 = blockIdx.x / tiles * 16, w0 = blockIdx.x % tiles * 16;
    const int h = h0 + threadIdx.y, w = w0 + threadIdx.x, m = blockIdx.y;
    for (size_t b = blockIdx.z; b < B; b += gridDim.z) {
        float sum = 0;
        for (int c = 0; c < C; c++) {
            for (int i = threadIdx.y; i < side; i += 16)
                for (int j = threadIdx.x; j < side; j += 16)
                    tile[i * side + j] =
                        h0 + i < H && w0 + j < W ? x[((b * C + c) * H + h0 + i) * W + w0 + j] : 0;
            __syncthreads();
            for (int p = 0; p < K; p++)
                for (int q = 0; q < K; q++) {
                    const int at = ((m * C + c) * K + p) * K + q;
                    sum += tile[(threadIdx.y + p) * side + threadIdx.x + q] *
                           (CONSTANT ? ck[at] : k[at]);
                }
            __syncthreads();
        }
        if (h < H_out && w < W_out)
            y[((b * M + m) * H_out + h) * W_out + w] = sum;
    }
}

__global__ void any(const float *x, const float *k, float *y, size_t n, int M, int C, int H, int W,
                    int K)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int H_out = H - K + 1, W_out = W - K + 1;
    const int w = i % W_out, h = i / W_out % H_out, m = i / W_out / H_out % M;
    const size_t b = i / W_out / H_out / M;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                sum += x[((b * C + c) * H + h + p) * W + w + q] * k[((m * C + c) * K + p) * K + q];
    y[i] = sum;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    const size_t outputs = (size_t)s->B * s->M * H_out * W_out;
    const size_t weights = (size_t)s->M * s->C * s->K * s->K;
    const size_t bytes = (size_t)(15 + s->K) * (15 + s->K) * sizeof(float);
    const dim3 grid(((W_out + 15) / 16) * ((H_out + 15) / 16), s->M, s->B < 65535 ? s->B : 65535);
    const dim3 by_rows((W_out + 31) / 32, (H_out + 7) / 8, s->B);
    if (s->C == 1 && s->K == 5 && s->B < 65536) {
        one_channel<5><<<by_rows, dim3(32, 8)>>>(x, k, y, s->M, s->H, s->W);
    } else if (s->C == 1 && s->K == 3 && s->B < 65536) {
        one_channel<3><<<by_rows, dim3(32, 8)>>>(x, k, y, s->M, s->H, s->W);
    } else if (bytes > 48 * 1024) {
        any<<<(outputs + 255) / 256, 256>>>(x, k, y, outputs, s->M, s->C, s->H, s->W, s->K);
    } else if (weights <= 16384) {
        if (cudaMemcpyToSymbolAsync(ck, k, weights * 4, 0, cudaMemcpyDeviceToDevice))
            return 1;
        halo<true><<<grid, dim3(16, 16), bytes>>>(x, k, y, s->B, s->M, s->C, s->H, s->W, s->K);
    } else {
        halo<false><<<grid, dim3(16, 16), bytes>>>(x, k, y, s->B, s->M, s->C, s->H, s->W, s->K);
    }
    return cudaGetLastError() != cudaSuccess;
}
