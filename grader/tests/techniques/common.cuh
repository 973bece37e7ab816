/* Parts that the submissions in this folder share. Each mN.cu has several submissions:
 * techniques.sh makes every SUBMISSION(name, value), and every function "int NAME(...)" after a
 * line with the expected verdict, into a separate library, in which it is called conv_forward. All
 * of them compute right results. */
#include "conv.h"

#define SIZES                                                                                      \
    const int B = shape.B, M = shape.M, C = shape.C, H = shape.H, W = shape.W, K = shape.K;        \
    const int H_out = H - K + 1, W_out = W - K + 1;                                                \
    (void)B, (void)M, (void)C, (void)H, (void)W, (void)H_out, (void)W_out

#define ARGUMENTS const struct conv_shape *s, const float *x, const float *k, float *y

#define X(b, c, h, w)  x[(((size_t)(b)*C + (c)) * H + (h)) * W + (w)]
#define KK(m, c, p, q) k[(((m)*C + (c)) * K + (p)) * K + (q)]
#define Y(b, m, h, w)  y[(((size_t)(b)*M + (m)) * H_out + (h)) * W_out + (w)]

/* The indices of this thread's output in blocks of 16 x 16; z counts the maps of all images. */
#define PLACE                                                                                      \
    SIZES;                                                                                         \
    const int b = blockIdx.z / M, m = blockIdx.z % M;                                              \
    const int h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;                \
    if (h >= H_out || w >= W_out)                                                                  \
    return

/* The indices of output i. */
#define UNFLAT                                                                                     \
    const int w = i % W_out, h = i / W_out % H_out, m = i / W_out / H_out % M,                     \
              b = i / W_out / H_out / M

/* The indices of this thread's output in one-dimensional blocks: outputs are numbered. */
#define FLAT_PLACE                                                                                 \
    SIZES;                                                                                         \
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;                                \
    if (i >= (size_t)B * M * H_out * W_out)                                                        \
        return;                                                                                    \
    UNFLAT

/* The numbers of elements of x, k and y. */
static size_t x_floats(const struct conv_shape *s)
{
    return (size_t)s->B * s->C * s->H * s->W;
}

static size_t k_floats(const struct conv_shape *s)
{
    return (size_t)s->M * s->C * s->K * s->K;
}

static size_t y_floats(const struct conv_shape *s)
{
    return (size_t)s->B * s->M * (s->H - s->K + 1) * (s->W - s->K + 1);
}

/* Scratch memory for n floats. */
static float *floats(size_t n)
{
    return (float *)conv_workspace(n * sizeof(float));
}

/* The part of an output that comes from one input map, and the whole output. */
static __device__ float channel_at(struct conv_shape shape, const float *x, const float *k, int b,
                                   int m, int c, int h, int w)
{
    SIZES;
    float sum = 0;
    for (int i = 0; i < K * K; i++)
        sum += X(b, c, h + i / K, w + i % K) * KK(m, c, 0, i);
    return sum;
}

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

/* A kernel with one thread per output, made from the statement that adds a term and the expression
 * that is stored. */
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

/* A kernel that uses no technique. */
KERNEL(plain, float, sum += X(b, c, h + p, w + q) * KK(m, c, p, q), sum)

static dim3 tiles(const struct conv_shape *s, int side, int z)
{
    return dim3((s->W - s->K + side) / side, (s->H - s->K + side) / side, z);
}

/* The return value of a submission. */
static int failed(void)
{
    return cudaGetLastError() != cudaSuccess;
}

/* Launches a kernel that begins with PLACE, with all arguments of the submission or with others. */
#define LAUNCH_WITH(name, ...)                                                                     \
    (name<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(__VA_ARGS__), failed())
#define LAUNCH(...)                                                                                \
    (__VA_ARGS__<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y), failed())

static int launch_plain(ARGUMENTS)
{
    return LAUNCH(plain);
}

/* Sums 64-bit integers in units of 2^-52. */
static __global__ void in_fixed_point(struct conv_shape shape, const float *x, const float *k,
                                      float *y)
{
    FLAT_PLACE;
    long long sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                sum += (long long)__float2int_rn(X(b, c, h + p, w + q) * 0x1p26f) *
                       __float2int_rn(KK(m, c, p, q) * 0x1p26f);
    y[i] = (float)((double)sum * 0x1p-52);
}

static int launch_fixed_point(ARGUMENTS)
{
    in_fixed_point<<<(y_floats(s) + 127) / 128, 128>>>(*s, x, k, y);
    return failed();
}

/* A submission made from one expression, from one launch, or from a kernel of KERNEL(). */
#define SUBMISSION(name, ...)                                                                      \
    int name(ARGUMENTS)                                                                            \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }
#define SUBMISSION_LAUNCH(name, ...)                                                               \
    int name(ARGUMENTS)                                                                            \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return failed();                                                                           \
    }
#define SUBMISSION_KERNEL(name, TYPE, TERM, RESULT)                                                \
    KERNEL(name##_kernel, TYPE, TERM, RESULT)                                                      \
    SUBMISSION(name, LAUNCH(name##_kernel))

/* The same value, which now contains the products of v. */
static __device__ float hidden(float value, float v)
{
    return __fsub_rn(__fadd_rn(value, v), v);
}

/* Adds by compare-and-swap. */
__device__ inline void add_by_swaps(float *to, float v)
{
    int *at = (int *)to, old = *at, seen;
    do {
        seen = old;
        old = atomicCAS(at, seen, __float_as_int(__int_as_float(seen) + v));
    } while (old != seen);
}

/* Copies, by one thread per element. */
template <class FROM, class TO> __global__ void copy_floats(const FROM *from, TO *to, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = (TO)from[i];
}

/* Makes a texture of x; 0 if this fails. */
template <class T> static cudaTextureObject_t texture_of(const T *x, size_t n)
{
    cudaTextureObject_t texture = 0;
    cudaResourceDesc from = {};
    cudaTextureDesc how = {};
    from.resType = cudaResourceTypeLinear;
    from.res.linear.devPtr = (void *)x;
    from.res.linear.desc =
        sizeof *x == 2 ? cudaCreateChannelDescHalf() : cudaCreateChannelDesc<T>();
    from.res.linear.sizeInBytes = n * sizeof *x;
    cudaCreateTextureObject(&texture, &from, &how, NULL);
    return texture;
}

/* Destroys a texture after all work is done. */
static int destroy_texture(cudaTextureObject_t texture)
{
    const int bad = cudaDeviceSynchronize() != cudaSuccess;
    return cudaDestroyTextureObject(texture) != cudaSuccess || bad;
}
