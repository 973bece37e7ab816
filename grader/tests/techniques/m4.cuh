/* Shared by the submissions for m4: weights in constant memory, where the weights of most layers
 * fit. */
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

/* The return value of a submission after it has copied the weights to constant memory, or has run
 * without constant memory if they do not fit. */
#define FILLED(value) (!fits(s) ? launch_plain(s, x, k, y) : copy(s, k) || (value))

/* A kernel with one thread per output, made from the expression for a weight. */
#define CONV(name, WEIGHT) KERNEL(name, float, sum += X(b, c, h + p, w + q) * (WEIGHT), sum)
#define AT                 ((m * C + c) * K + p) * K + q
