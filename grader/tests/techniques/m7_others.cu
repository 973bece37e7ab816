/* Submissions for m7 in the styles of other courses, and decoys. */
#include "common.cuh"

/* Rows of the filter, not input maps, are split over blocks. */
__global__ void rows_of_filter(conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int p = blockIdx.y;
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i >= (size_t)B * M * H_out * W_out)
        return;
    UNFLAT;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int q = 0; q < K; q++)
            sum += X(b, c, h + p, w + q) * KK(m, c, p, q);
    atomicAdd(y + i, sum);
}
/* expect: pass */
int split_over_filter_rows(ARGUMENTS)
{
    cudaMemsetAsync(y, 0, 4 * y_floats(s));
    rows_of_filter<<<dim3((y_floats(s) + 255) / 256, s->K), 256>>>(*s, x, k, y);
    return failed();
}

/* The first part is stored by a first launch, so y needs no memset; others are added by a second. */
template <bool FIRST>
__global__ void first_or_other(conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0;
    for (int c = FIRST ? 0 : 1; c < C; c += 2)
        for (int t = 0; t < K * K; t++)
            sum += X(b, c, h + t / K, w + t % K) * KK(m, c, 0, t);
    if (FIRST)
        Y(b, m, h, w) = 0.f, __threadfence(), atomicAdd(&Y(b, m, h, w), sum);
    else
        atomicAdd(&Y(b, m, h, w), sum);
}
/* expect: pass */
int first_clears(ARGUMENTS)
{
    const dim3 grid = tiles(s, 16, s->B * s->M);
    first_or_other<true><<<grid, dim3(16, 16)>>>(*s, x, k, y);
    if (s->C > 1)
        first_or_other<false><<<grid, dim3(16, 16)>>>(*s, x, k, y);
    return s->C == 1 ? launch_plain(s, x, k, y) : failed();
}

/* Fixed point of 64 bits with a rounding addend, one block per input map. */
__global__ void add_units(conv_shape shape, const float *x, const float *k, unsigned long long *to)
{
    SIZES;
    const size_t i = (size_t)blockIdx.x * 128 + threadIdx.x;
    if (i >= (size_t)B * M * H_out * W_out)
        return;
    UNFLAT;
    const float sum = channel_at(shape, x, k, b, m, blockIdx.y, h, w);
    const long long units = (long long)(sum * 0x1p32f + (sum < 0 ? -0.5f : 0.5f));
    atomicAdd(&to[i], (unsigned long long)units);
}
__global__ void to_floats(const unsigned long long *from, float *y, size_t n)
{
    const size_t i = (size_t)blockIdx.x * 128 + threadIdx.x;
    if (i < n)
        y[i] = __ll2float_rn((long long)from[i]) * 0x1p-32f;
}
/* expect: pass */
int units_of_64_bits(ARGUMENTS)
{
    unsigned long long *to = (unsigned long long *)conv_workspace(8 * y_floats(s));
    cudaMemsetAsync(to, 0, 8 * y_floats(s));
    add_units<<<dim3((y_floats(s) + 127) / 128, s->C), 128>>>(*s, x, k, to);
    to_floats<<<(y_floats(s) + 127) / 128, 128>>>(to, y, y_floats(s));
    return failed();
}

/* A grid of blocks that take (output tile, input maps) from a counter. */
__device__ unsigned next_job;
__global__ void jobs(conv_shape shape, const float *x, const float *k, float *y, int parts)
{
    SIZES;
    __shared__ unsigned job;
    const unsigned outputs = B * M * H_out * W_out, blocks = (outputs + 127) / 128;
    for (;;) {
        if (threadIdx.x == 0)
            job = atomicAdd(&next_job, 1u);
        __syncthreads();
        const unsigned mine = job;
        __syncthreads();
        if (mine >= blocks * parts)
            return;
        const unsigned i = mine / parts * 128 + threadIdx.x, part = mine % parts;
        if (i >= outputs)
            continue;
        UNFLAT;
        float sum = 0;
        for (int c = C * part / parts; c < C * (part + 1) / parts; c++)
            for (int t = 0; t < K * K; t++)
                sum += X(b, c, h + t / K, w + t % K) * KK(m, c, 0, t);
        if (parts > 1)
            atomicAdd(&y[i], sum);
        else
            y[i] = sum;
    }
}
/* expect: pass */
int jobs_of_a_counter(ARGUMENTS)
{
    const unsigned zero = 0;
    cudaMemcpyToSymbol(next_job, &zero, sizeof zero);
    cudaMemsetAsync(y, 0, 4 * y_floats(s));
    jobs<<<64, 128>>>(*s, x, k, y, s->C < 3 ? s->C : 3);
    return failed();
}

/* ---- decoys ---- */

/* A thread computes the whole sum and adds it in two parts. */
__global__ void in_two_parts(conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    const float sum = sum_at(shape, x, k, b, m, h, w);
    atomicAdd(&Y(b, m, h, w), 0.75f * sum);
    atomicAdd(&Y(b, m, h, w), 0.25f * sum);
}
/* expect: threads added products to each output by atomic operations */
int three_quarters_and_a_quarter(ARGUMENTS)
{
    cudaMemsetAsync(y, 0, 4 * y_floats(s));
    return LAUNCH(in_two_parts);
}
