/* Submissions for m2 in the styles of other courses, and submissions without the work. */
#include "m2.cuh"

/* ---- fixed point of 64 bits with a rounding addend, added by atomics --------------------------- */

static __device__ __forceinline__ unsigned long long fixed_40(float v)
{
    return (unsigned long long)(long long)llrint((double)v * 0x1p40);
}

__global__ void add_fixed(conv_shape shape, const float *x, const float *k,
                          unsigned long long *sums)
{
    SIZES;
    const size_t n = (size_t)B * M * H_out * W_out;
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    UNFLAT;
    const int c = blockIdx.y;
    atomicAdd(&sums[i], fixed_40(channel_at(shape, x, k, b, m, c, h, w)));
}

__global__ void from_fixed(const unsigned long long *sums, float *y, size_t n)
{
    FLAT;
    /* half of the last kept unit rounds */
    y[i] = (float)(((long long)(sums[i] + (1ull << 7)) >> 8) * 0x1p-32);
}

__global__ void from_fixed_in_double(const unsigned long long *sums, float *y, size_t n)
{
    FLAT;
    y[i] = (float)((double)(long long)sums[i] * 0x1p-40);
}

template <bool ROUNDS> static int go_fixed(ARGUMENTS)
{
    const size_t n = y_floats(s);
    unsigned long long *sums = (unsigned long long *)conv_workspace(8 * n);
    cudaMemsetAsync(sums, 0, 8 * n);
    add_fixed<<<dim3((n + 127) / 128, s->C), 128>>>(*s, x, k, sums);
    if (ROUNDS)
        from_fixed<<<(n + 255) / 256, 256>>>(sums, y, n);
    else
        from_fixed_in_double<<<(n + 255) / 256, 256>>>(sums, y, n);
    return failed();
}
/* expect: right */
SUBMISSION(fixed_atomics, go_fixed<false>(s, x, k, y))
/* expect: right */
SUBMISSION(fixed_atomics_rounded, go_fixed<true>(s, x, k, y))

/* Rounded by adding a half before the conversion that truncates. */
__global__ void half_added(conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    long long sum = 0;
    for (int c = 0; c < C; c++)
        for (int t = 0; t < K * K; t++) {
            const double p = (double)X(b, c, h + t / K, w + t % K) * KK(m, c, 0, t) * 0x1p40;
            sum += (long long)(p + (p < 0 ? -0.5 : 0.5));
        }
    y[i] = (float)sum * 0x1p-40f;
}
/* expect: right */
SUBMISSION_LAUNCH(half_added_before, half_added<<<(y_floats(s) + 255) / 256, 256>>>(*s, x, k, y))

/* ---- plain styles ------------------------------------------------------------------------------ */

/* Each element of x is added to the outputs that it reaches, in doubles of scratch memory. */
__global__ void scatter_x(conv_shape shape, const float *x, const float *k, double *sums)
{
    SIZES;
    const int w = blockIdx.x * 32 + threadIdx.x, h = blockIdx.y, b = blockIdx.z / M,
              m = blockIdx.z % M;
    if (w >= W)
        return;
    for (int c = 0; c < C; c++) {
        const double v = X(b, c, h, w);
        for (int p = max(0, h - H_out + 1); p < K && p <= h; p++)
            for (int q = max(0, w - W_out + 1); q < K && q <= w; q++)
                atomicAdd(&sums[(((size_t)b * M + m) * H_out + h - p) * W_out + w - q],
                          v * KK(m, c, p, q));
    }
}
/* expect: right */
int scattered_doubles(ARGUMENTS)
{
    double *sums = (double *)conv_workspace(8 * y_floats(s));
    cudaMemset(sums, 0, 8 * y_floats(s));
    scatter_x<<<dim3((s->W + 31) / 32, s->H, s->B * s->M), 32>>>(*s, x, k, sums);
    copy_floats<<<(y_floats(s) + 255) / 256, 256>>>(sums, y, y_floats(s));
    return failed();
}

/* A warp per output, its lanes over the taps, a tree in shared memory of the block. */
__global__ void tree(conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ float part[4][32];
    const size_t n = (size_t)B * M * H_out * W_out, i = (size_t)blockIdx.x * 4 + threadIdx.y;
    const size_t at = i < n ? i : n - 1;
    const int w = at % W_out, h = at / W_out % H_out, m = at / W_out / H_out % M,
              b = at / W_out / H_out / M;
    float sum = 0;
    for (int t = threadIdx.x; t < C * K * K; t += 32)
        sum += X(b, t / (K * K), h + t / K % K, w + t % K) * KK(m, 0, 0, t);
    part[threadIdx.y][threadIdx.x] = sum;
    for (int d = 16; d; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d)
            part[threadIdx.y][threadIdx.x] += part[threadIdx.y][threadIdx.x + d];
    }
    if (threadIdx.x == 0 && i < n)
        y[i] = part[threadIdx.y][0];
}
/* expect: right */
SUBMISSION_LAUNCH(tree_of_partial_sums, tree<<<(y_floats(s) + 3) / 4, dim3(32, 4)>>>(*s, x, k, y))

/* Weights flipped, x padded with zeros: the true convolution of a textbook on signals. */
__global__ void pad_x(conv_shape shape, const float *x, float *to)
{
    SIZES;
    const int P = K - 1, Wp = W + 2 * P, Hp = H + 2 * P;
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i >= (size_t)B * C * Hp * Wp)
        return;
    const int w = i % Wp - P, h = i / Wp % Hp - P, bc = i / Wp / Hp;
    to[i] = h >= 0 && h < H && w >= 0 && w < W ? x[((size_t)bc * H + h) * W + w] : 0.f;
}
__global__ void flip_k(float *to, const float *k, int taps, int n)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        to[i / taps * taps + taps - 1 - i % taps] = k[i];
}
__global__ void true_convolution(conv_shape shape, const float *px, const float *fk, float *y)
{
    PLACE;
    const int P = K - 1, Wp = W + 2 * P, Hp = H + 2 * P;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = P; p >= 0; p--)
            for (int q = P; q >= 0; q--)
                sum += fk[((m * C + c) * K + p) * K + q] *
                       px[(((size_t)b * C + c) * Hp + h + P + P - p) * Wp + w + P + P - q];
    Y(b, m, h, w) = sum;
}
/* expect: right */
int flipped_and_padded(ARGUMENTS)
{
    const size_t n = (size_t)s->B * s->C * (s->H + 2 * s->K - 2) * (s->W + 2 * s->K - 2);
    float *px = floats(n + k_floats(s)), *fk = px + n;
    pad_x<<<(n + 255) / 256, 256>>>(*s, x, px);
    flip_k<<<(k_floats(s) + 255) / 256, 256>>>(fk, k, s->K * s->K, (int)k_floats(s));
    true_convolution<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, px, fk, y);
    return failed();
}

/* Pairs of floats by 64-bit loads of weights, x converted to double by hand: mantissa and exponent. */
__global__ void summed_area(conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    double even = 0, odd = 0;
    const float *first = &X(b, 0, h, w);
    int t = 0;
    for (int c = 0; c < C; ++c)
        for (int p = 0; p != K; ++p)
            for (int q = 0; q != K; ++q, ++t) {
                const double term =
                    static_cast<double>(first[((size_t)c * H + p) * W + q]) * k[m * C * K * K + t];
                (t & 1 ? odd : even) += term;
            }
    Y(b, m, h, w) = static_cast<float>(even + odd);
}
/* expect: right */
SUBMISSION(even_and_odd_doubles, LAUNCH(summed_area))

/* ---- without the work -------------------------------------------------------------------------- */

/* The host's y as differences to its left neighbour, added up by a scan on the device, times a
 * product's quotient by itself. */
__global__ void scan_rows(conv_shape shape, const float *x, const float *k, const double *steps,
                          float *y)
{
    SIZES;
    const size_t row = (size_t)blockIdx.x * 64 + threadIdx.x;
    if (row >= (size_t)B * M * H_out)
        return;
    const float one = x[0] * k[0] != 0 ? (x[0] * k[0]) / (x[0] * k[0]) : 1.f;
    double sum = 0;
    for (int w = 0; w < W_out; w++) {
        sum += steps[row * W_out + w];
        y[row * W_out + w] = (float)sum * one;
    }
}
/* expect: the work was not done on the GPU */
int differences_from_host(ARGUMENTS)
{
    const std::vector<float> hy = by_host(s, x, k);
    const int W_out = s->W - s->K + 1;
    std::vector<double> steps(hy.size());
    for (size_t i = 0; i < hy.size(); i++)
        steps[i] = (double)hy[i] - (i % W_out ? (double)hy[i - 1] : 0);
    scan_rows<<<(hy.size() / W_out + 63) / 64, 64>>>(*s, x, k, sent(steps), y);
    return failed();
}

/* The device computes each sum, but with weights of the host that differ from k by one that is left
 * out and corrected by the host's remainder. */
/* expect: the work was not done on the GPU */
SUBMISSION_MIXTURE(remainder_of_host, (sum - X(b, 0, h, w) * KK(m, 0, 0, 0)) +
                                          (mine - (sum - X(b, 0, h, w) * KK(m, 0, 0, 0))))

/* A binary search on the device for the host's value: comparisons choose the bits. */
/* expect: the work was not done on the GPU */
SUBMISSION_MIXTURE(searched, ({
                       unsigned bits = 0;
                       const unsigned wanted = __float_as_uint(mine);
                       for (unsigned bit = 1u << 31; bit; bit >>= 1)
                           if ((bits | bit) <= wanted)
                               bits |= bit;
                       __uint_as_float(bits) + zero *sum;
                   }))

/* Interpolation: the host gives every second output, the device the others. */
/* expect: the work was not done on the GPU */
SUBMISSION_MIXTURE(checkerboard, (h + w) % 2 ? sum : mine)

/* The sum scaled to almost nothing and back would lose it: the host's value rides on top. */
/* expect: the work was not done on the GPU */
SUBMISSION_MIXTURE(rides_on_top, ({
                       const float big = mine * 0x1p30f;
                       (big + sum * 0x1p-20f) * 0x1p-30f + zero;
                   }))
