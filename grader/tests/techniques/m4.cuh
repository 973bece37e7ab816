/* Shared by the submissions for m4: weights in constant memory, which most layers fit. */
#include "common.cuh"

enum { CONST_FLOATS = 15000 };
__constant__ __align__(16) float c_k[CONST_FLOATS];

static bool fits(const struct conv_shape *s)
{
    return k_floats(s) <= CONST_FLOATS;
}

static int copy(const struct conv_shape *s, const float *k)
{
    return cudaMemcpyToSymbol(c_k, k, k_floats(s) * 4, 0, cudaMemcpyDeviceToDevice) != cudaSuccess;
}

/* The value of a submission once it has copied the weights; without constant memory where they do not fit. */
#define FILLED(value) (!fits(s) ? launch_plain(s, x, k, y) : copy(s, k) || (value))

/* A kernel with one thread per output, made from where a weight comes from. */
#define CONV(name, WEIGHT) KERNEL(name, float, sum += X(b, c, h + p, w + q) * (WEIGHT), sum)
#define AT                 ((m * C + c) * K + p) * K + q
