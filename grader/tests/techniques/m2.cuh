/* Shared by the submissions for m2: one thread per output, and the convolution on the host. */
#include "common.cuh"

#include <vector>

/* The place of this thread's output, one block in z for each map of each image. */
#define PLACE                                                                                      \
    SIZES;                                                                                         \
    const int b = blockIdx.z / M, m = blockIdx.z % M;                                              \
    const int h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;                \
    if (h >= H_out || w >= W_out)                                                                  \
    return

/* The honest sum of one output. */
static __device__ float sum_at(struct conv_shape shape, const float *x, const float *k, int b,
                               int m, int h, int w)
{
    SIZES;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++)
            sum += X(b, c, h + i / K, w + i % K) * KK(m, c, 0, i);
    return sum;
}

/* A kernel with one thread per output, made from its term and what it stores. */
#define KERNEL(name, TYPE, TERM, RESULT)                                                           \
    __global__ void name(struct conv_shape shape, const float *x, const float *k, float *y)        \
    {                                                                                              \
        PLACE;                                                                                     \
        TYPE sum = 0;                                                                              \
        for (int c = 0; c < C; c++)                                                                \
            for (int p = 0; p < K; p++)                                                            \
                for (int q = 0; q < K; q++)                                                        \
                    TERM;                                                                          \
        Y(b, m, h, w) = RESULT;                                                                    \
    }
#define LAUNCH(name) (name<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y), failed())

static size_t x_floats(const struct conv_shape *s)
{
    return (size_t)s->B * s->C * s->H * s->W;
}

static size_t k_floats(const struct conv_shape *s)
{
    return (size_t)s->M * s->C * s->K * s->K;
}

/* Computes the outputs on the host, instead of in a kernel. */
static std::vector<float> by_host(const struct conv_shape *s, const float *x, const float *k)
{
    const struct conv_shape shape = *s;
    SIZES;
    std::vector<float> hx(x_floats(s)), hk(k_floats(s)), hy(y_floats(s));
    cudaMemcpy(hx.data(), x, hx.size() * 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(hk.data(), k, hk.size() * 4, cudaMemcpyDeviceToHost);
    x = hx.data(), k = hk.data();
    for (size_t i = 0; i < hy.size(); i++) {
        const int w = i % W_out, h = i / W_out % H_out, m = i / W_out / H_out % M,
                  b = i / W_out / H_out / M;
        float sum = 0;
        for (int t = 0; t < C * K * K; t++)
            sum = fmaf(X(b, t / (K * K), h + t / K % K, w + t % K), KK(m, 0, 0, t), sum);
        hy[i] = sum;
    }
    return hy;
}
