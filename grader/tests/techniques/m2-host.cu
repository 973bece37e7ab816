/* Results for m2 that kernels did not compute from x and k: the host computes them, wholly or in
 * part. */
#include "m2.cuh"

/* ---- the host computes ----------------------------------------------------------------------- */

/* The bytes of y as indices into a table of bytes. */
__global__ void looked_up(const unsigned char *index, const unsigned char *table, float *y,
                          size_t n)
{
    FLAT;
    unsigned bits = 0;
    for (int j = 0; j < 4; j++)
        bits |= (unsigned)table[index[4 * i + j]] << 8 * j;
    y[i] = __uint_as_float(bits);
}
__device__ unsigned char bytes[256];

/* expect: the work was not done on the GPU */
int host_table(ARGUMENTS)
{
    unsigned char table[256];
    void *at;
    for (int i = 0; i < 256; i++)
        table[i] = i;
    cudaMemcpyToSymbol(bytes, table, 256);
    cudaGetSymbolAddress(&at, bytes);
    return FLAT_LAUNCH(looked_up, (unsigned char *)sent(by_host(s, x, k)), (unsigned char *)at, y,
                       y_floats(s));
}

struct handed {
    float v[512];
};
__global__ void handed_over(struct handed values, float *y, size_t n)
{
    if (threadIdx.x < n)
        y[threadIdx.x] = values.v[threadIdx.x];
}

/* expect (long): the work was not done on the GPU */
int host_parameters(ARGUMENTS)
{
    const std::vector<float> hy = by_host(s, x, k);
    for (size_t i = 0; i < hy.size(); i += 512) {
        struct handed values = {};
        const size_t n = hy.size() - i < 512 ? hy.size() - i : 512;
        memcpy(values.v, &hy[i], n * 4);
        handed_over<<<1, 512>>>(values, y + i, n);
    }
    return failed();
}

__constant__ float c_result[16000];

/* expect: the work was not done on the GPU */
int host_constants(ARGUMENTS)
{
    const std::vector<float> hy = by_host(s, x, k);
    void *at;
    cudaGetSymbolAddress(&at, c_result);
    for (size_t i = 0; i < hy.size(); i += 16000) {
        const size_t n = hy.size() - i < 16000 ? hy.size() - i : 16000;
        cudaMemcpyToSymbol(c_result, &hy[i], n * 4);
        copy_floats<<<(n + 255) / 256, 256>>>((float *)at, y + i, n);
    }
    return failed();
}

/* Bits of y in pointers. */
__global__ void from_pointers(const char *const *pointers, const char *base, float *y, size_t n)
{
    FLAT;
    y[i] = __uint_as_float((unsigned)(pointers[i] - base));
}

/* expect (long): the work was not done on the GPU */
int host_pointers(ARGUMENTS)
{
    const std::vector<float> hy = by_host(s, x, k);
    std::vector<const char *> pointers(hy.size());
    for (size_t i = 0; i < hy.size(); i++) {
        unsigned bits;
        memcpy(&bits, &hy[i], 4);
        pointers[i] = (const char *)x + bits;
    }
    return FLAT_LAUNCH(from_pointers, sent(pointers), (const char *)x, y, hy.size());
}

/* expect: the work was not done on the GPU */
int host_managed(ARGUMENTS)
{
    const std::vector<float> hy = by_host(s, x, k);
    float *shared;
    if (cudaMallocManaged(&shared, hy.size() * 4))
        return 1;
    memcpy(shared, hy.data(), hy.size() * 4);
    FLAT_LAUNCH(copy_floats, shared, y, hy.size());
    cudaDeviceSynchronize();
    cudaFree(shared);
    return failed();
}

/* The device computes into managed memory; then the host overwrites it with its own result. */
/* expect: kernels did not compute */
int host_managed_afterwards(ARGUMENTS)
{
    const std::vector<float> hy = by_host(s, x, k);
    float *shared;
    if (cudaMallocManaged(&shared, hy.size() * 4) || launch_plain(s, x, k, shared))
        return 1;
    cudaDeviceSynchronize();
    for (size_t i = 0; i < hy.size(); i++)
        ((unsigned *)shared)[i] = ((const unsigned *)hy.data())[i] ^ 1;
    FLAT_LAUNCH(copy_floats, shared, y, hy.size());
    cudaDeviceSynchronize();
    cudaFree(shared);
    return failed();
}

/* expect: kernels did */
int host_copies(ARGUMENTS)
{
    const std::vector<float> hy = by_host(s, x, k);
    return cudaMemcpy(y, hy.data(), hy.size() * 4, cudaMemcpyHostToDevice) != cudaSuccess;
}

/* ---- ... and the device computes useless products ------------------------------------------- */

/* expect (long): kernels did not compute */
SUBMISSION_MIXTURE(host_plus_zero, mine + zero * sum)

/* expect: kernels did not compute */
SUBMISSION_MIXTURE(host_never_taken, zero ? sum : mine)

/* expect (long): kernels did not compute */
SUBMISSION_MIXTURE(host_next_to_nothing, mine + sum * 1e-30f)

/* expect: kernels did not compute */
SUBMISSION_MIXTURE(host_cancelled, (mine + sum) - sum)

/* expect (long): kernels did not compute */
SUBMISSION_MIXTURE(host_clamped, sum *zero + fminf(fmaxf(mine, mine), mine))

/* expect: kernels did not compute */
SUBMISSION_MIXTURE(host_absorbed, ((sum + 1e30f) - 1e30f) + mine)

/* In the upper word of a double that is 0 as a float32. */
static __device__ double in_upper_word(double sum, double mine)
{
    return __hiloint2double(__double2hiint(mine), __double2loint(sum));
}

/* expect (long): kernels did not compute */
SUBMISSION_MIXTURE(host_in_small_double, in_upper_word(sum * 0x1p-900, mine * 0x1p-900) * 0x1p900)

/* fmin() of a number and a NaN is the number. */
/* expect: kernels did not compute */
SUBMISSION_MIXTURE(host_beside_nan,
                   fminf(mine, sum - 1.0f + __int_as_float(0x7fc00000 + (int)zero)))

/* expect (long): kernels did not compute */
SUBMISSION_MIXTURE(host_half_of_them, w % 2 ? sum : mine)

/* expect: kernels did not compute */
SUBMISSION_MIXTURE(host_one_of_each_map, h == H_out - 1 && w == W_out - 1 ? mine : sum)

/* expect (long): the work was not done on the GPU */
SUBMISSION_MIXTURE(host_few_taps,
                   mine + (X(b, 0, h, w) * KK(m, 0, 0, 0) + X(b, 0, h, w) * KK(m, 0, 0, 0)) * zero)

/* The host computes all but the first input map. */
__global__ void first_map_only(struct conv_shape shape, const float *x, const float *k, float *y,
                               const float *host)
{
    PLACE;
    float sum = 0;
    for (int i = 0; i < K * K; i++)
        sum += X(b, 0, h + i / K, w + i % K) * KK(m, 0, 0, i);
    Y(b, m, h, w) = C == 1 ? sum : host[&Y(b, m, h, w) - y];
}

/* expect: the work was not done on the GPU */
SUBMISSION(host_other_maps, LAUNCH_WITH(first_map_only, *s, x, k, y, sent(by_host(s, x, k))))

/* The device convolves the host's result with a filter of one tap. */
__global__ void one_tap(const float *from, const float *one, float *y, size_t n, int taps)
{
    FLAT;
    float sum = 0;
    for (int j = 0; j < taps; j++)
        sum += from[i] * one[j];
    y[i] = sum;
}

/* expect (long): kernels did not compute */
int host_one_tap(ARGUMENTS)
{
    const std::vector<float> hy = by_host(s, x, k);
    std::vector<float> all(hy);
    all.push_back(1);
    all.resize(hy.size() + s->C * s->K * s->K);
    const float *there = sent(all);
    return FLAT_LAUNCH(one_tap, there, there + hy.size(), y, hy.size(), s->C * s->K * s->K);
}

/* x goes through the host, which could have changed it. */
/* expect: kernels did not compute */
SUBMISSION(host_x, launch_plain(s, sent(fetched(x, x_floats(s))), k, y))

/* Only with many images. */
/* expect (long): many: the work was not done on the GPU */
SUBMISSION(host_when_many, s->B < 150 ? launch_plain(s, x, k, y) : host_other_maps(s, x, k, y))

/* Only filters unlike the layers'. */
/* expect (long): the work was not done on the GPU */
SUBMISSION(host_for_other_filters,
           s->K == 5 ? launch_plain(s, x, k, y)
                     : launch_plain(s, x, k, floats(y_floats(s))) || host_copies(s, x, k, y))
