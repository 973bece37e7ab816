/* Four streams, a quarter of the images each: copy in, kernel, copy out. The kernel is the tile and halo of
 * m3, one output per thread. */
#include "conv.h"

#define TILE 16

__global__ void conv_shared(const float *x, const float *k, float *y, int M, int C, int H, int W,
                            int K)
{
    extern __shared__ float shmem[];
    const int H_out = H - K + 1, W_out = W - K + 1;
    const int X_tile = TILE + K - 1;
    float *X_shared = shmem;
    float *K_shared = shmem + X_tile * X_tile;
    const int tiles_w = (W_out + TILE - 1) / TILE;
    const size_t n = blockIdx.x;
    const int m = blockIdx.y;
    const int h_base = blockIdx.z / tiles_w * TILE, w_base = blockIdx.z % tiles_w * TILE;
    const int h0 = threadIdx.y, w0 = threadIdx.x;
    const int h = h_base + h0, w = w_base + w0;
    float acc = 0.0f;
    for (int c = 0; c < C; c++) {
        if (h0 < K && w0 < K)
            K_shared[h0 * K + w0] = k[((m * C + c) * K + h0) * K + w0];
        if (K > TILE)
            for (int i = h0 * TILE + w0; i < K * K; i += TILE * TILE)
                K_shared[i] = k[(m * C + c) * K * K + i];
        for (int i = h0; i < X_tile; i += TILE)
            for (int j = w0; j < X_tile; j += TILE)
                X_shared[i * X_tile + j] = h_base + i < H && w_base + j < W
                                               ? x[((n * C + c) * H + h_base + i) * W + w_base + j]
                                               : 0.0f;
        __syncthreads();
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                acc += X_shared[(h0 + p) * X_tile + w0 + q] * K_shared[p * K + q];
        __syncthreads();
    }
    if (h < H_out && w < W_out)
        y[((n * M + m) * H_out + h) * W_out + w] = acc;
}

__global__ void conv_global(const float *x, const float *k, float *y, size_t outputs, int M, int C,
                            int H, int W, int K)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int H_out = H - K + 1, W_out = W - K + 1;
    if (i >= outputs)
        return;
    const int w = i % W_out, h = i / W_out % H_out, m = i / W_out / H_out % M;
    const size_t n = i / W_out / H_out / M;
    float acc = 0.0f;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                acc += x[((n * C + c) * H + h + p) * W + w + q] * k[((m * C + c) * K + p) * K + q];
    y[i] = acc;
}

static int launch(const struct conv_shape *s, const float *x, const float *k, float *y,
                  cudaStream_t stream)
{
    const int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    const size_t shmem_size =
        sizeof(float) * ((size_t)(TILE + s->K - 1) * (TILE + s->K - 1) + (size_t)s->K * s->K);
    if (shmem_size > 48 * 1024) {
        const size_t outputs = (size_t)s->B * s->M * H_out * W_out;
        conv_global<<<(outputs + 255) / 256, 256, 0, stream>>>(x, k, y, outputs, s->M, s->C, s->H,
                                                               s->W, s->K);
    } else {
        dim3 grid(s->B, s->M, ((W_out + TILE - 1) / TILE) * ((H_out + TILE - 1) / TILE));
        conv_shared<<<grid, dim3(TILE, TILE), shmem_size, stream>>>(x, k, y, s->M, s->C, s->H, s->W,
                                                                    s->K);
    }
    return cudaGetLastError() != cudaSuccess;
}

#define STREAMS 4

extern "C" int conv_forward_host(const struct conv_shape *s, const float *x, const float *k,
                                 float *y)
{
    static cudaStream_t stream[STREAMS];
    const size_t image = (size_t)s->C * s->H * s->W;
    const size_t out = (size_t)s->M * (s->H - s->K + 1) * (s->W - s->K + 1);
    const size_t weights = (size_t)s->M * s->C * s->K * s->K;
    float *device_k = (float *)conv_workspace((weights + s->B * (image + out)) * sizeof(float));
    if (!device_k)
        return 1;
    float *device_x = device_k + weights, *device_y = device_x + s->B * image;
    if (!stream[0])
        for (int i = 0; i < STREAMS; i++)
            cudaStreamCreate(&stream[i]);
    cudaMemcpy(device_k, k, weights * sizeof(float), cudaMemcpyHostToDevice);
    const int each = (s->B + STREAMS - 1) / STREAMS;
    for (int i = 0; i < STREAMS; i++) {
        const int first = i * each;
        struct conv_shape part = *s;
        part.B = first + each <= s->B ? each : s->B - first;
        if (part.B <= 0)
            break;
        cudaMemcpyAsync(device_x + first * image, x + first * image, part.B * image * sizeof(float),
                        cudaMemcpyHostToDevice, stream[i]);
        if (launch(&part, device_x + first * image, device_k, device_y + first * out, stream[i]))
            return 1;
        cudaMemcpyAsync(y + first * out, device_y + first * out, part.B * out * sizeof(float),
                        cudaMemcpyDeviceToHost, stream[i]);
    }
    for (int i = 0; i < STREAMS; i++)
        cudaStreamSynchronize(stream[i]);
    return 0;
}
