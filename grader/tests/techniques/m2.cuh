/* Shared by the submissions for m2: the convolution on the host, and kernels that use its
 * results. */
#include "common.cuh"

#include <vector>

/* The number of this thread's element of y. */
#define FLAT                                                                                       \
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;                                \
    if (i >= n)                                                                                    \
    return
#define FLAT_LAUNCH(name, ...) (name<<<(y_floats(s) + 255) / 256, 256>>>(__VA_ARGS__), failed())

/* Copies a vector to the device for a kernel to read. */
template <class T> static T *sent(const std::vector<T> &from)
{
    T *to = (T *)conv_workspace(from.size() * sizeof(T));
    cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
    return to;
}

/* Copies n elements from the device. */
static std::vector<float> fetched(const float *from, size_t n)
{
    std::vector<float> to(n);
    cudaMemcpy(to.data(), from, n * sizeof(float), cudaMemcpyDeviceToHost);
    return to;
}

/* Computes the outputs on the host instead of in a kernel. */
static std::vector<float> by_host(const struct conv_shape *s, const float *x, const float *k)
{
    const struct conv_shape shape = *s;
    SIZES;
    const std::vector<float> hx = fetched(x, x_floats(s)), hk = fetched(k, k_floats(s));
    std::vector<float> hy(y_floats(s));
    x = hx.data(), k = hk.data();
    for (size_t i = 0; i < hy.size(); i++) {
        UNFLAT;
        float sum = 0;
        for (int t = 0; t < C * K * K; t++)
            sum = fmaf(X(b, t / (K * K), h + t / K % K, w + t % K), KK(m, 0, 0, t), sum);
        hy[i] = sum;
    }
    return hy;
}

/* A submission whose kernel combines its own sum with the host's sum, `mine`. */
#define SUBMISSION_MIXTURE(name, RESULT)                                                           \
    __global__ void name##_kernel(struct conv_shape shape, const float *x, const float *k,         \
                                  float *y, const float *host, float zero)                         \
    {                                                                                              \
        PLACE;                                                                                     \
        const float sum = sum_at(shape, x, k, b, m, h, w), mine = host[&Y(b, m, h, w) - y];        \
        Y(b, m, h, w) = RESULT;                                                                    \
    }                                                                                              \
    SUBMISSION(name, LAUNCH_WITH(name##_kernel, *s, x, k, y, sent(by_host(s, x, k)), 0.f))
