/** @file
 * Ways to divide the sum of one output among threads. There are no tiles, so that the variants
 * differ only in the division. The sum over the C * K rows of the filters is cut into SLICES slices
 * (split-K):
 *
 *     one_sum     a thread computes the whole sum, as in m2
 *     atomics_S   S blocks add their slices to y, which was cleared, as in m7
 *     passes_S    S blocks write their slices into scratch memory; a second kernel adds them in order
 *     tree_S      S threads of a block, along y; a tree in shared memory adds their slices
 *     shuffle_S   S neighbouring lanes of a warp; a tree of shuffles adds their slices
 *
 * `make variants` times these variants and the references; docs/variants.md has the results. Each
 * function below is a conv_forward() with another name, which the makefile changes.
 */
#include "conv.h"

#define BLK 128

static __host__ __device__ size_t outputs_of(const struct conv_shape &s)
{
    return (size_t)s.B * s.M * (s.H - s.K + 1) * (s.W - s.K + 1);
}

/** @return slice @p slice of @p slices of the sum of output @p i; 0 past the last output. */
static __device__ float slice_of(const struct conv_shape &s, const float *x, const float *k,
                                 size_t i, int slice, int slices)
{
    const size_t W_out = s.W - s.K + 1, H_out = s.H - s.K + 1, w = i % W_out, h = i / W_out % H_out,
                 m = i / (W_out * H_out) % s.M, b = i / (W_out * H_out * s.M);
    const int rows = s.C * s.K, last = rows * (slice + 1) / slices;
    float sum = 0;
    if (i >= outputs_of(s))
        return 0;
    for (int r = rows * slice / slices; r < last; r++) {
        const float *in = x + ((b * s.C + r / s.K) * s.H + h + r % s.K) * s.W + w;
        const float *weight = k + (m * rows + r) * s.K;
        for (int q = 0; q < s.K; q++)
            sum += in[q] * weight[q];
    }
    return sum;
}

/** One thread for each output and slice; blockIdx.y is the slice. ADD: adds to y; otherwise writes
 * part[slice]. */
template <bool ADD>
__global__ void each_slice(struct conv_shape s, const float *x, const float *k, float *y)
{
    const size_t i = blockIdx.x * (size_t)BLK + threadIdx.x, outputs = outputs_of(s);
    const float sum = slice_of(s, x, k, i, blockIdx.y, gridDim.y);
    if (i >= outputs)
        return;
    if (ADD)
        atomicAdd(&y[i], sum);
    else
        y[blockIdx.y * outputs + i] = sum;
}

/** y = sum of the slices, added in order, so that each run gives the same bits. */
__global__ void add_slices(const float *part, float *y, size_t outputs, int slices)
{
    const size_t i = blockIdx.x * (size_t)BLK + threadIdx.x;
    float sum = 0;
    for (int s = 0; s < slices && i < outputs; s++)
        sum += part[s * outputs + i];
    if (i < outputs)
        y[i] = sum;
}

/** A block computes BLK / SLICES neighbouring outputs; the threads of one output differ in
 * threadIdx.y. */
template <int SLICES>
__global__ void tree_in_block(struct conv_shape s, const float *x, const float *k, float *y)
{
    __shared__ float part[SLICES][BLK / SLICES];
    const int slice = threadIdx.y, at = threadIdx.x;
    const size_t i = blockIdx.x * (size_t)(BLK / SLICES) + at;
    part[slice][at] = slice_of(s, x, k, i, slice, SLICES);
    for (int half = SLICES / 2; half; half /= 2) {
        __syncthreads();
        if (slice < half)
            part[slice][at] += part[slice + half][at];
    }
    if (slice == 0 && i < outputs_of(s))
        y[i] = part[0][at];
}

/** The lanes of one output are neighbours, so a warp reads only 32 / SLICES neighbouring elements
 * of x, in many rows. */
template <int SLICES>
__global__ void tree_in_warp(struct conv_shape s, const float *x, const float *k, float *y)
{
    const size_t thread = blockIdx.x * (size_t)BLK + threadIdx.x, i = thread / SLICES;
    float sum = slice_of(s, x, k, i, thread % SLICES, SLICES);
    for (int half = SLICES / 2; half; half /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, half, SLICES);
    if (thread % SLICES == 0 && i < outputs_of(s))
        y[i] = sum;
}

static unsigned blocks_for(size_t threads)
{
    return (unsigned)((threads + BLK - 1) / BLK);
}

static int failed(void)
{
    return cudaGetLastError() != cudaSuccess;
}

#define ARGUMENTS const struct conv_shape *s, const float *x, const float *k, float *y

template <int SLICES> static int by_atomics(ARGUMENTS)
{
    const size_t n = outputs_of(*s);
    cudaMemsetAsync(y, 0, n * sizeof *y);
    each_slice<true><<<dim3(blocks_for(n), SLICES), BLK>>>(*s, x, k, y);
    return failed();
}

template <int SLICES> static int by_passes(ARGUMENTS)
{
    const size_t n = outputs_of(*s);
    float *part = (float *)conv_workspace(n * SLICES * sizeof *part);
    if (!part)
        return 1;
    each_slice<false><<<dim3(blocks_for(n), SLICES), BLK>>>(*s, x, k, part);
    add_slices<<<blocks_for(n), BLK>>>(part, y, n, SLICES);
    return failed();
}

template <int SLICES> static int by_tree(ARGUMENTS)
{
    tree_in_block<SLICES>
        <<<blocks_for(outputs_of(*s) * SLICES), dim3(BLK / SLICES, SLICES)>>>(*s, x, k, y);
    return failed();
}

template <int SLICES> static int by_shuffle(ARGUMENTS)
{
    tree_in_warp<SLICES><<<blocks_for(outputs_of(*s) * SLICES), BLK>>>(*s, x, k, y);
    return failed();
}

#define VARIANT(name, function)                                                                    \
    extern "C" int name(ARGUMENTS)                                                                 \
    {                                                                                              \
        return function(s, x, k, y);                                                               \
    }
#define VARIANTS(SLICES)                                                                           \
    VARIANT(atomics_##SLICES, by_atomics<SLICES>)                                                  \
    VARIANT(passes_##SLICES, by_passes<SLICES>)                                                    \
    VARIANT(tree_##SLICES, by_tree<SLICES>)                                                        \
    VARIANT(shuffle_##SLICES, by_shuffle<SLICES>)

VARIANT(one_sum, by_tree<1>)
VARIANTS(2)
VARIANTS(4)
VARIANTS(8)
