/* More right convolutions, for m2: ways to multiply and to sum, with scales, compensation, skipped
 * zeros, partial sums, shuffles, atomics and fixed point. */
#include "m2.cuh"

__device__ __forceinline__ float ptx_load(const float *p)
{
    float v;
    asm("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(p));
    return v;
}
__device__ __forceinline__ void ptx_fma(float &d, float a, float b)
{
    asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(d) : "f"(a), "f"(b));
}
/* expect: right */
SUBMISSION_KERNEL(inline_ptx, float,
                  ptx_fma(sum, ptx_load(&X(b, c, h + p, w + q)), ptx_load(&KK(m, c, p, q))), sum)
/* expect: right */
SUBMISSION_KERNEL(rounding_intrinsics, float,
                  sum = __fadd_rn(sum, __fmul_rn(__ldcg(&X(b, c, h + p, w + q)),
                                                 __ldca(&KK(m, c, p, q)))),
                  sum)
KERNEL(
    skip_w, float,
    {
        const float f = KK(m, c, p, q);
        if (f == 0)
            continue;
        sum += X(b, c, h + p, w + q) * f;
    },
    sum)
/* expect: right */
SUBMISSION(skip_zero_weight, LAUNCH(skip_w))
KERNEL(
    skip_x, float,
    {
        const float f = X(b, c, h + p, w + q);
        if (f != 0.0f)
            sum += KK(m, c, p, q) * f;
    },
    sum)
/* expect: right */
SUBMISSION(skip_zero_x, LAUNCH(skip_x))
KERNEL(
    skip_v, float,
    {
        const float *f = &X(b, c, h + p, w + q);
        if (*f == 0)
            continue;
        volatile float v = *f;
        sum += KK(m, c, p, q) * v;
    },
    sum)
/* expect: right */
SUBMISSION(skip_zero_volatile, LAUNCH(skip_v))

/* partial sums in a workspace, second kernel */
__global__ void parts(struct conv_shape shape, const float *x, const float *k, float *part)
{
    SIZES;
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    const size_t n = (size_t)B * M * H_out * W_out;
    if (i >= n)
        return;
    UNFLAT;
    const int c = blockIdx.y;
    const float sum = channel_at(shape, x, k, b, m, c, h, w);
    part[c * n + i] = sum;
}
__global__ void sum_parts(const float *part, float *y, size_t n, int C)
{
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    float sum = part[i];
    for (int c = 1; c < C; c++)
        sum += part[c * n + i];
    y[i] = sum;
}
/* expect: right */
int two_pass(ARGUMENTS)
{
    const size_t n = y_floats(s);
    float *part = floats(n * s->C);
    parts<<<dim3((n + 255) / 256, s->C), 256>>>(*s, x, k, part);
    sum_parts<<<(n + 255) / 256, 256>>>(part, y, n, s->C);
    return failed();
}
/* scaled by powers of two and back; halved and negated */
KERNEL(scaled, float, sum -= (X(b, c, h + p, w + q) * 4.0f) * (-0.25f * KK(m, c, p, q)), sum)
/* expect: right */
SUBMISSION(scaled_terms, LAUNCH(scaled))
/* two-sum, compensated with fma's error term */
__global__ void dot2(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float p = 0, e = 0;
    for (int i = 0; i < C * K * K; i++) {
        const float a = X(b, i / (K * K), h + i / K % K, w + i % K), f = KK(m, 0, 0, i);
        const float hh = a * f, r = __fmaf_rn(a, f, -hh), t = p + hh, z = t - p;
        e += ((p - (t - z)) + (hh - z)) + r;
        p = t;
    }
    Y(b, m, h, w) = p + e;
}
/* expect: right */
SUBMISSION(compensated_dot, LAUNCH(dot2))
/* half-warp butterfly with __shfl_xor, and matching ballots */
__global__ void butterfly(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const size_t i = ((size_t)blockIdx.x * 128 + threadIdx.x) / 4;
    const int lane = threadIdx.x % 4;
    if (i >= (size_t)B * M * H_out * W_out)
        return;
    UNFLAT;
    double sum = 0;
    for (int t = lane; t < C * K * K; t += 4)
        sum += (double)X(b, t / (K * K), h + t / K % K, w + t % K) * (double)KK(m, 0, 0, t);
    const unsigned who = __match_any_sync(__activemask(), i);
    sum += __shfl_xor_sync(who, sum, 1);
    sum += __shfl_xor_sync(who, sum, 2);
    if (lane == 0)
        y[i] = sum;
}
/* expect: right */
SUBMISSION_LAUNCH(double_butterfly, butterfly<<<(y_floats(s) * 4 + 127) / 128, 128>>>(*s, x, k, y))
/* atomicAdd on double scratch, then converted */
__global__ void add_double(struct conv_shape shape, const float *x, const float *k, double *to)
{
    FLAT_PLACE;
    const int c = blockIdx.y;
    double sum = 0;
    for (int t = 0; t < K * K; t++)
        sum += (double)X(b, c, h + t / K, w + t % K) * KK(m, c, 0, t);
    atomicAdd(&to[i], sum);
}
/* expect: right */
int double_atomics(ARGUMENTS)
{
    const size_t n = y_floats(s);
    double *to = (double *)conv_workspace(n * 8);
    cudaMemset(to, 0, n * 8);
    add_double<<<dim3((n + 255) / 256, s->C), 256>>>(*s, x, k, to);
    copy_floats<<<(n + 255) / 256, 256>>>(to, y, n);
    return failed();
}
/* signs: y = -(-sum), abs, copysign, fdividef by 2 */
/* expect: right */
SUBMISSION_KERNEL(halves, float, sum += X(b, c, h + p, w + q) * KK(m, c, p, q) / 2.0f, sum * 2.0f)
/* fixed point: 2^-26 for each factor, sums of 64 bits */
__device__ long long fixed(float v)
{
    return __float2int_rn(v * 0x1p26f);
}
/* expect: right */
SUBMISSION_KERNEL(fixed_point_of_64_bits, long long,
                  sum += fixed(X(b, c, h + p, w + q)) * fixed(KK(m, c, p, q)),
                  (float)sum * 0x1p-52f)
/* skips zeros of x, by row and by element */
__global__ void skipping(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            bool any = false;
            for (int q = 0; q < K; q++)
                any |= X(b, c, h + p, w + q) != 0;
            for (int q = 0; any && q < K; q++)
                if (X(b, c, h + p, w + q) != 0)
                    sum += X(b, c, h + p, w + q) * KK(m, c, p, q);
        }
    Y(b, m, h, w) = sum;
}
/* expect: right */
SUBMISSION(skips_zeros, LAUNCH(skipping))
/* a compensated sum */
__global__ void compensated(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0, lost = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++) {
            const float term = __fsub_rn(__fmul_rn(X(b, c, h + i / K, w + i % K), KK(m, c, 0, i)),
                                         lost),
                        all = __fadd_rn(sum, term);
            lost = __fsub_rn(__fsub_rn(all, sum), term);
            sum = all;
        }
    Y(b, m, h, w) = sum;
}
/* expect: right */
SUBMISSION(compensated_sum, LAUNCH(compensated))

/* A warp per output, whose lanes add up by shuffles. */
__global__ void warp_each(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (i >= (size_t)B * M * H_out * W_out)
        return;
    UNFLAT;
    float sum = 0;
    for (int t = lane; t < C * K * K; t += 32)
        sum += X(b, t / (K * K), h + t / K % K, w + t % K) * KK(m, 0, 0, t);
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0)
        y[i] = sum;
}

/* expect (long): right */
SUBMISSION_LAUNCH(right_shuffles, warp_each<<<(y_floats(s) + 7) / 8, 256>>>(*s, x, k, y))
/* two lanes add to the same word of 64 bits by compare-and-swap */
__global__ void swapped_pairs(struct conv_shape shape, const float *x, const float *k, float *to)
{
    FLAT_PLACE;
    unsigned long long *at = (unsigned long long *)to + i / 2, old, seen;
    for (int c = 0; c < C; c++) {
        const float v = channel_at(shape, x, k, b, m, c, h, w);
        old = *(volatile unsigned long long *)at;
        do {
            float2 both;
            seen = old;
            memcpy(&both, &seen, sizeof both);
            (i % 2 ? both.y : both.x) += v;
            memcpy(&old, &both, sizeof old);
            old = atomicCAS(at, seen, old);
        } while (old != seen);
    }
}
/* expect: right */
int swaps_of_pairs(ARGUMENTS)
{
    const size_t n = y_floats(s);
    float *to = floats(n + 1);
    cudaMemset(to, 0, (n + 1) * 4);
    swapped_pairs<<<(n + 127) / 128, 128>>>(*s, x, k, to);
    return cudaMemcpy(y, to, n * 4, cudaMemcpyDeviceToDevice) != cudaSuccess;
}
