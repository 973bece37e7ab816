/* Two streams, each with a buffer of ten images for x and y that it reuses: the copy of the next
 * ten waits only for its own stream. The buffers stay between calls; streams and weights do not. */
#include "conv.h"

#define TILE   16
#define IMAGES 10

/* MAPS outputs per thread, in as many maps, of a 16 x 16 tile that the block has staged with its halo. */
template <int MAPS>
__global__ void conv_maps(struct conv_shape s, const float *x, const float *k, float *y)
{
    extern __shared__ float tile[];
    const int side = TILE + s.K - 1, W_out = s.W - s.K + 1, H_out = s.H - s.K + 1;
    const int across = (W_out + TILE - 1) / TILE;
    const int h0 = blockIdx.x / across * TILE, w0 = blockIdx.x % across * TILE;
    const int m0 = blockIdx.y * MAPS, h = h0 + threadIdx.y, w = w0 + threadIdx.x;
    const size_t b = blockIdx.z;
    const float *weights[MAPS];
    float sum[MAPS] = {0};
    for (int m = 0; m < MAPS; m++)
        weights[m] = k + (size_t)min(m0 + m, s.M - 1) * s.C * s.K * s.K;
    for (int c = 0; c < s.C; c++) {
        for (int i = threadIdx.y; i < side; i += TILE)
            for (int j = threadIdx.x; j < side; j += TILE)
                tile[i * side + j] = h0 + i < s.H && w0 + j < s.W
                                         ? x[((b * s.C + c) * s.H + h0 + i) * s.W + w0 + j]
                                         : 0;
        __syncthreads();
        for (int p = 0; p < s.K; p++)
            for (int q = 0; q < s.K; q++) {
                const float v = tile[(threadIdx.y + p) * side + threadIdx.x + q];
                for (int m = 0; m < MAPS; m++)
                    sum[m] += v * *weights[m]++;
            }
        __syncthreads();
    }
    for (int m = 0; m < MAPS; m++)
        if (h < H_out && w < W_out && m0 + m < s.M)
            y[((b * s.M + m0 + m) * H_out + h) * W_out + w] = sum[m];
}

__global__ void conv_single(struct conv_shape s, const float *x, const float *k, float *y)
{
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1;
    const size_t outputs = (size_t)s.B * s.M * H_out * W_out;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < outputs;
         i += (size_t)gridDim.x * blockDim.x) {
        const int w = i % W_out, h = i / W_out % H_out, m = i / W_out / H_out % s.M;
        const size_t b = i / W_out / H_out / s.M;
        float sum = 0;
        for (int c = 0; c < s.C; c++)
            for (int p = 0; p < s.K; p++)
                for (int q = 0; q < s.K; q++)
                    sum += x[((b * s.C + c) * s.H + h + p) * s.W + w + q] *
                           k[(((size_t)m * s.C + c) * s.K + p) * s.K + q];
        y[i] = sum;
    }
}

static void run(const struct conv_shape &s, const float *x, const float *k, float *y,
                cudaStream_t stream)
{
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1, side = TILE + s.K - 1;
    const dim3 grid((H_out + TILE - 1) / TILE * ((W_out + TILE - 1) / TILE), (s.M + 7) / 8, s.B);
    if (side * side * sizeof(float) <= 48 << 10)
        conv_maps<8><<<grid, dim3(TILE, TILE), side * side * sizeof(float), stream>>>(s, x, k, y);
    else
        conv_single<<<1024, 256, 0, stream>>>(s, x, k, y);
}

extern "C" int conv_forward_host(const struct conv_shape *s, const float *x, const float *k,
                                 float *y)
{
    const size_t image = (size_t)s->C * s->H * s->W;
    const size_t out = (size_t)s->M * (s->H - s->K + 1) * (s->W - s->K + 1);
    const size_t weights = (size_t)s->M * s->C * s->K * s->K;
    float *memory = (float *)conv_workspace((weights + 2 * IMAGES * (image + out)) * sizeof(float));
    cudaStream_t stream[2];
    if (!memory)
        return 1;
    float *const device_k = memory + 2 * IMAGES * (image + out);
    for (int i = 0; i < 2; i++)
        if (cudaStreamCreate(&stream[i]) != cudaSuccess)
            return 1;
    cudaMemcpy(device_k, k, weights * sizeof(float), cudaMemcpyHostToDevice);
    for (int b = 0, i = 0; b < s->B; b += IMAGES, i = 1 - i) {
        struct conv_shape some = *s;
        some.B = s->B - b < IMAGES ? s->B - b : IMAGES;
        float *const device_x = memory + i * IMAGES * (image + out);
        float *const device_y = device_x + IMAGES * image;
        cudaMemcpyAsync(device_x, x + b * image, some.B * image * sizeof(float),
                        cudaMemcpyHostToDevice, stream[i]);
        run(some, device_x, device_k, device_y, stream[i]);
        cudaMemcpyAsync(y + b * out, device_y, some.B * out * sizeof(float), cudaMemcpyDeviceToHost,
                        stream[i]);
    }
    for (int i = 0; i < 2; i++) {
        cudaStreamSynchronize(stream[i]);
        cudaStreamDestroy(stream[i]);
    }
    return cudaGetLastError() != cudaSuccess;
}
