/* A stream for copies in, one for kernels and one for copies out, connected by events: a pipeline
 * over eight parts. All copies in are issued first, then all kernels, then all copies out. */
#include "conv.h"

#define TILE  16
#define PARTS 8

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
    static cudaStream_t in, work, out;
    static cudaEvent_t here[PARTS], done[PARTS];
    const size_t x_image = (size_t)s->C * s->H * s->W;
    const size_t y_image = (size_t)s->M * (s->H - s->K + 1) * (s->W - s->K + 1);
    const size_t weights = (size_t)s->M * s->C * s->K * s->K;
    float *d_x = (float *)conv_workspace((s->B * (x_image + y_image) + weights) * sizeof(float));
    float *d_y = d_x + s->B * x_image, *d_k = d_y + s->B * y_image;
    if (!d_x)
        return 1;
    if (!in) {
        cudaStreamCreateWithFlags(&in, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&out, cudaStreamNonBlocking);
        for (int i = 0; i < PARTS; i++) {
            cudaEventCreateWithFlags(&here[i], cudaEventDisableTiming);
            cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming);
        }
    }
    int first[PARTS + 1];
    for (int i = 0; i <= PARTS; i++)
        first[i] = (int)((long)s->B * i / PARTS);
    cudaMemcpyAsync(d_k, k, weights * sizeof(float), cudaMemcpyDefault, in);
    for (int i = 0; i < PARTS; i++) {
        cudaMemcpyAsync(d_x + first[i] * x_image, x + first[i] * x_image,
                        (first[i + 1] - first[i]) * x_image * sizeof(float), cudaMemcpyDefault, in);
        cudaEventRecord(here[i], in);
    }
    for (int i = 0; i < PARTS; i++) {
        struct conv_shape part = *s;
        part.B = first[i + 1] - first[i];
        cudaStreamWaitEvent(work, here[i], 0);
        if (part.B > 0)
            run(part, d_x + first[i] * x_image, d_k, d_y + first[i] * y_image, work);
        cudaEventRecord(done[i], work);
    }
    for (int i = 0; i < PARTS; i++) {
        cudaStreamWaitEvent(out, done[i], 0);
        cudaMemcpyAsync(y + first[i] * y_image, d_y + first[i] * y_image,
                        (first[i + 1] - first[i]) * y_image * sizeof(float), cudaMemcpyDefault,
                        out);
    }
    cudaStreamSynchronize(out);
    return cudaGetLastError() != cudaSuccess;
}
