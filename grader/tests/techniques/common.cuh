/* Parts that the submissions in this folder share. Each mN.cu holds several: every function
 * "int SUBMISSION(...)" whose line before says what to expect of it is made into a library of its
 * own, in which it is called conv_forward (techniques.sh). All of them compute right results. */
#include "conv.h"

#define SIZES                                                                                      \
    const int B = shape.B, M = shape.M, C = shape.C, H = shape.H, W = shape.W, K = shape.K;        \
    const int H_out = H - K + 1, W_out = W - K + 1;                                                \
    (void)B, (void)M, (void)C, (void)H, (void)W, (void)H_out, (void)W_out

#define ARGUMENTS const struct conv_shape *s, const float *x, const float *k, float *y

#define X(b, c, h, w)  x[(((size_t)(b)*C + (c)) * H + (h)) * W + (w)]
#define KK(m, c, p, q) k[(((m)*C + (c)) * K + (p)) * K + (q)]
#define Y(b, m, h, w)  y[(((size_t)(b)*M + (m)) * H_out + (h)) * W_out + (w)]

/* Scratch memory of the size of n floats. */
static float *floats(size_t n)
{
    return (float *)conv_workspace(n * sizeof(float));
}

/* How many y has. */
static size_t y_floats(const struct conv_shape *s)
{
    return (size_t)s->B * s->M * (s->H - s->K + 1) * (s->W - s->K + 1);
}

/* The rung below all techniques: one thread per output. */
__global__ void plain(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int b = blockIdx.z / M, m = blockIdx.z % M;
    const int h = blockIdx.y * 16 + threadIdx.y, w = blockIdx.x * 16 + threadIdx.x;
    if (h >= H_out || w >= W_out)
        return;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                sum += X(b, c, h + p, w + q) * KK(m, c, p, q);
    Y(b, m, h, w) = sum;
}

static dim3 tiles(const struct conv_shape *s, int side, int z)
{
    return dim3((s->W - s->K + side) / side, (s->H - s->K + side) / side, z);
}

/* The return value of a submission. */
static int failed(void)
{
    return cudaGetLastError() != cudaSuccess;
}

/* An addition by compare-and-swap. */
__device__ inline void add_by_swaps(float *to, float v)
{
    int *at = (int *)to, old = *at, seen;
    do {
        seen = old;
        old = atomicCAS(at, seen, __float_as_int(__int_as_float(seen) + v));
    } while (old != seen);
}

static int launch_plain(ARGUMENTS)
{
    plain<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, y);
    return failed();
}
