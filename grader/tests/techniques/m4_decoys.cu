/* Right results without the constant memory of m4. */
#include "common.cuh"
enum { N = 14000 };
__constant__ float c_k[N];
static size_t taps(const struct conv_shape *s)
{
    return (size_t)s->M * s->C * s->K * s->K;
}
static void fill(const struct conv_shape *s, const float *k)
{
    cudaMemcpyToSymbol(c_k, k, taps(s) * 4, 0, cudaMemcpyDeviceToDevice);
}
#define CONV(NAME, WEIGHT)                                                                         \
    __global__ void NAME(struct conv_shape shape, const float *x, const float *k, float *y,        \
                         const float *f)                                                           \
    {                                                                                              \
        SIZES;                                                                                     \
        const int b = blockIdx.z / M, m = blockIdx.z % M, h = blockIdx.y * 16 + threadIdx.y,       \
                  w = blockIdx.x * 16 + threadIdx.x;                                               \
        if (h >= H_out || w >= W_out)                                                              \
            return;                                                                                \
        float sum = 0;                                                                             \
        for (int c = 0; c < C; c++)                                                                \
            for (int p = 0; p < K; p++)                                                            \
                for (int q = 0; q < K; q++)                                                        \
                    sum += X(b, c, h + p, w + q) * (WEIGHT);                                       \
        Y(b, m, h, w) = sum;                                                                       \
    }
#define GO(NAME, f)                                                                                \
    (NAME<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y, f),                            \
     cudaGetLastError() != cudaSuccess)
#define AT ((m * C + c) * K + p) * K + q
CONV(by_pointer, f[AT])
/* expect: 0% of the products that make y take k from a __constant__ variable */
int pointer_to_k(ARGUMENTS)
{
    if (taps(s) > N)
        return launch_plain(s, x, k, y);
    fill(s, k);
    return GO(by_pointer, k);
}
CONV(some_channels, c % 4 ? KK(m, c, p, q) : c_k[AT])
/* expect: of the products that make y take k from a __constant__ variable */
int quarter_of_channels(ARGUMENTS)
{
    if (taps(s) > N)
        return launch_plain(s, x, k, y);
    fill(s, k);
    return GO(some_channels, k);
}
CONV(average, 0.5f * (c_k[AT] + KK(m, c, p, q)))
/* expect: of the products that make y take k from a __constant__ variable */
int average_of_both(ARGUMENTS)
{
    if (taps(s) > N)
        return launch_plain(s, x, k, y);
    fill(s, k);
    return GO(average, k);
}
CONV(compared, c_k[AT] == KK(m, c, p, q) ? KK(m, c, p, q) : 0.0f)
/* expect: of the products that make y take k from a __constant__ variable */
int only_compared(ARGUMENTS)
{
    if (taps(s) > N)
        return launch_plain(s, x, k, y);
    fill(s, k);
    return GO(compared, k);
}
/* constant memory copied to shared, which multiplies */
__global__ void through_shared(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float s_k[];
    const int b = blockIdx.z / M, m = blockIdx.z % M, t = threadIdx.y * 16 + threadIdx.x,
              h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    for (int i = t; i < C * K * K; i += 256)
        s_k[i] = KK(m, 0, 0, i);
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < C * K * K && h < H_out && w < W_out; i++)
        sum += X(b, i / K / K, h + i / K % K, w + i % K) * s_k[i];
    if (h < H_out && w < W_out)
        Y(b, m, h, w) = sum;
}
/* expect: 0% of the products that make y take k from a __constant__ variable */
int shared_instead(ARGUMENTS)
{
    through_shared<<<tiles(s, 16, s->B * s->M), dim3(16, 16), s->C * s->K * s->K * 4>>>(*s, x, k,
                                                                                        y);
    return failed();
}
/* read-only loads instead */
CONV(ldg, __ldg(&KK(m, c, p, q)))
/* expect: 0% of the products that make y take k from a __constant__ variable */
int read_only_instead(ARGUMENTS)
{
    return GO(ldg, k);
}
/* the constant address as a global one */
__global__ void as_global(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int b = blockIdx.z / M, m = blockIdx.z % M, h = blockIdx.y * 16 + threadIdx.y,
              w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++)
            sum += X(b, c, h + i / K, w + i % K) * k[(m * C + c) * K * K + i];
    Y(b, m, h, w) = sum;
}
/* expect: 0% of the products that make y take k from a __constant__ variable */
int symbol_as_global(ARGUMENTS)
{
    if (taps(s) > N)
        return launch_plain(s, x, k, y);
    fill(s, k);
    void *at;
    cudaGetSymbolAddress(&at, c_k);
    as_global<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, (float *)at, y);
    return failed();
}
/* constant for one layer only */
CONV(constant, c_k[AT])
/* expect: timed: but not where it is timed */
int constant_when_few(ARGUMENTS)
{
    if (taps(s) > N)
        return launch_plain(s, x, k, y);
    fill(s, k);
    return s->B <= 24 ? GO(constant, k) : GO(by_pointer, k);
}
