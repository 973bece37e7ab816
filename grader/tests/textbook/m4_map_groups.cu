/* Works on as many maps at a time as fit into constant memory: copies their weights there, then
 * launches a kernel. One thread per output; no tile of x. */
#include "conv.h"

enum { ROOM = 16000 };
__constant__ float weights[ROOM];

__global__ void some_maps(struct conv_shape s, const float *x, float *y, int first, int maps)
{
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1;
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    const int m = blockIdx.y;
    if (pixel >= H_out * W_out || m >= maps)
        return;
    const int h = pixel / W_out, w = pixel % W_out;
    for (size_t b = blockIdx.z; b < (size_t)s.B; b += gridDim.z) {
        float sum = 0;
        int i = m * s.C * s.K * s.K;
        for (int c = 0; c < s.C; c++)
            for (int p = 0; p < s.K; p++)
                for (int q = 0; q < s.K; q++)
                    sum += weights[i++] * x[((b * s.C + c) * s.H + h + p) * s.W + w + q];
        y[(b * s.M + first + m) * H_out * W_out + pixel] = sum;
    }
}

/* One map's weights exceed constant memory. */
__global__ void one_by_one(struct conv_shape s, const float *x, const float *k, float *y)
{
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1;
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)s.B * s.M * H_out * W_out)
        return;
    const size_t w = i % W_out, h = i / W_out % H_out, m = i / W_out / H_out % s.M,
                 b = i / W_out / H_out / s.M;
    float sum = 0;
    for (int c = 0; c < s.C; c++)
        for (int p = 0; p < s.K; p++)
            for (int q = 0; q < s.K; q++)
                sum += k[((m * s.C + c) * s.K + p) * s.K + q] *
                       x[((b * s.C + c) * s.H + h + p) * s.W + w + q];
    y[i] = sum;
}

extern "C" int conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const int taps = s->C * s->K * s->K, most = ROOM / taps;
    const int pixels = (s->H - s->K + 1) * (s->W - s->K + 1);
    if (most == 0) {
        const size_t n = (size_t)s->B * s->M * pixels;
        one_by_one<<<(n + 255) / 256, 256>>>(*s, x, k, y);
        return cudaGetLastError() != cudaSuccess;
    }
    for (int first = 0; first < s->M; first += most) {
        const int maps = s->M - first < most ? s->M - first : most;
        cudaMemcpyToSymbol(weights, k + (size_t)first * taps, (size_t)maps * taps * sizeof(float),
                           0, cudaMemcpyDeviceToDevice);
        some_maps<<<dim3((pixels + 127) / 128, maps, s->B < 60000 ? s->B : 60000), 128>>>(
            *s, x, y, first, maps);
    }
    return cudaGetLastError() != cudaSuccess;
}
