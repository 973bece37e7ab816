#include "grader/gpubench/gpubench_kernels.h"

#define THREADS 256

/* Number of blocks: enough for any GPU; each thread steps by the size of the grid. */
static unsigned blocks_for(size_t n)
{
    const size_t blocks = (n + THREADS - 1) / THREADS;
    return (unsigned)(blocks < 65536 ? blocks : 65536);
}

static __device__ size_t first_index(void)
{
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ size_t step(void)
{
    return (size_t)gridDim.x * blockDim.x;
}

/* ---- inputs --------------------------------------------------------------------------------- */

/** Mixes the bits of an index until the results for neighbours look unrelated (the finaliser of
 * MurmurHash3). */
static __device__ unsigned mixed(unsigned h)
{
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

static __global__ void fill(float *to, size_t n, unsigned seed)
{
    for (size_t i = first_index(); i < n; i += step()) {
        const unsigned h = mixed((unsigned)i ^ mixed(seed + (unsigned)(i >> 32)));
        to[i] = (float)(h >> 8) * 0x1p-23f - 1.0f; /* 2^24 steps of 2^-23 */
    }
}

void bench_fill(float *to, size_t n, unsigned seed)
{
    fill<<<blocks_for(n), THREADS>>>(to, n, seed);
}

/* ---- expected outputs ----------------------------------------------------------------------- */

static __global__ void conv_naive(struct conv_shape s, const float *x, const float *k, float *y,
                                  size_t n)
{
    const int H_out = s.H - s.K + 1, W_out = s.W - s.K + 1;
    for (size_t i = first_index(); i < n; i += step()) {
        const int w = (int)(i % W_out), h = (int)(i / W_out % H_out);
        const int m = (int)(i / W_out / H_out % s.M);
        const size_t b = i / W_out / H_out / s.M;
        const float *weight = k + (size_t)m * s.C * s.K * s.K;
        double sum = 0;
        for (int c = 0; c < s.C; c++)
            for (int p = 0; p < s.K; p++) {
                const float *row = x + ((b * s.C + c) * s.H + h + p) * s.W + w;
                for (int q = 0; q < s.K; q++)
                    sum += (double)row[q] * (double)*weight++;
            }
        y[i] = (float)sum;
    }
}

void bench_conv_naive(const struct conv_shape *s, const float *x, const float *k, float *y)
{
    const size_t n = (size_t)s->B * s->M * (s->H - s->K + 1) * (s->W - s->K + 1);
    conv_naive<<<blocks_for(n), THREADS>>>(*s, x, k, y, n);
}

/* ---- comparison ----------------------------------------------------------------------------- */

static __global__ void compare(const float *y, const float *ref, const float *atol, float rtol,
                               size_t n, int M, size_t map, struct bench_compared *result)
{
    unsigned long long wrong = 0;
    float worst = 0;
    for (size_t i = first_index(); i < n; i += step()) {
        const float expected = ref[i], got = y[i];
        const float tolerance = atol[i / map % M] + rtol * fabsf(expected);
        const float error = fabsf(got - expected);
        /* Not "error > tolerance": NaN must fail, both in y and in the computed values. */
        if (!(error <= tolerance)) {
            wrong++;
            worst = fmaxf(worst, isfinite(error) ? error / tolerance : INFINITY);
        } else if (error > 0) {
            worst = fmaxf(worst, error / tolerance);
        }
    }
    if (wrong)
        atomicAdd(&result->wrong, wrong);
    /* The bits of nonnegative floats have the order of the floats. */
    if (__float_as_uint(worst) > *(volatile unsigned *)&result->worst_bits)
        atomicMax(&result->worst_bits, __float_as_uint(worst));
}

void bench_compare(const float *y, const float *ref, const float *atol, float rtol, size_t n, int M,
                   size_t map, struct bench_compared *result)
{
    const unsigned blocks = blocks_for(n) < 4096 ? blocks_for(n) : 4096;
    compare<<<blocks, THREADS>>>(y, ref, atol, rtol, n, M, map, result);
}

/* ---- peak rates ----------------------------------------------------------------------------- */

static __global__ void copy(float4 *to, const float4 *from, size_t n)
{
    for (size_t i = first_index(); i < n; i += step())
        to[i] = from[i];
}

void bench_copy(float *to, const float *from, size_t n)
{
    /* One element per thread: without a loop, the hardware distributes the blocks. */
    const unsigned blocks = (unsigned)((n / 4 + THREADS - 1) / THREADS);
    copy<<<blocks, THREADS>>>((float4 *)to, (const float4 *)from, n / 4);
}

#define CHAINS    8  /* independent sums, which hide each other's latency */
#define PER_ROUND 64 /* multiply-adds of each chain between two tests of the loop's condition */

static __global__ void multiply_add(float *out, int rounds)
{
    float sum[CHAINS];
    const float a = 0.999f, b = 0.001f * threadIdx.x;
    for (int c = 0; c < CHAINS; c++)
        sum[c] = c + b;
    for (int round = 0; round < rounds; round++)
#pragma unroll
        for (int i = 0; i < PER_ROUND; i++)
#pragma unroll
            for (int c = 0; c < CHAINS; c++)
                sum[c] = fmaf(sum[c], a, b);
    float total = 0;
    for (int c = 0; c < CHAINS; c++)
        total += sum[c];
    out[first_index()] = total;
}

double bench_multiply_add(float *out, int blocks, int rounds)
{
    multiply_add<<<blocks, BENCH_FMA_THREADS>>>(out, rounds);
    return 2.0 * CHAINS * PER_ROUND * rounds * (double)BENCH_FMA_THREADS * blocks;
}
