/* More results that kernels did not compute from x and k, for m2: disguised bits from the host. */
#include "m2.cuh"

#include <algorithm>

/* useless arithmetic, so that the counters look right */
__global__ void junk(const float *x, const float *k, float *to, size_t n, int taps)
{
    FLAT;
    float a = x[i % 7], sum = 0;
    for (int j = 0; j < taps; j++)
        sum = fmaf(a, k[0], sum);
    to[i] = sum;
}
static void work(const struct conv_shape *s, const float *x, const float *k)
{
    const size_t n = y_floats(s);
    float *t;
    cudaMalloc(&t, n * 4);
    junk<<<(n + 255) / 256, 256>>>(x, k, t, n, s->C * s->K * s->K);
    cudaDeviceSynchronize();
    cudaFree(t);
}
static std::vector<float> by_host_beside_work(const struct conv_shape *s, const float *x,
                                              const float *k)
{
    work(s, x, k);
    return by_host(s, x, k);
}

/* bits as ints, added to an integer made from x */
__global__ void from_ints(const int *bits, const float *x, float *y, size_t n)
{
    FLAT;
    y[i] = __int_as_float(bits[i] + (__float_as_int(x[0]) & 0));
}
/* expect: the work was not done on the GPU */
SUBMISSION(bits_plus_masked_x,
           FLAT_LAUNCH(from_ints, (int *)sent(by_host_beside_work(s, x, k)), x, y, y_floats(s)))
/* halves of the bits as two shorts packed by prmt or shifts, or'ed into an element of x*k without
 * its fraction */
__global__ void or_fraction(struct conv_shape shape, const float *x, const float *k,
                            const unsigned *bits, float *y)
{
    PLACE;
    const float p = X(b, 0, h, w) * KK(m, 0, 0, 0);
    const unsigned v = bits[&Y(b, m, h, w) - y];
    Y(b, m, h, w) = __uint_as_float((__float_as_uint(p) & 0u) | v);
}
/* expect: the work was not done on the GPU */
SUBMISSION(or_into_product,
           LAUNCH_WITH(or_fraction, *s, x, k, (unsigned *)sent(by_host_beside_work(s, x, k)), y))
/* fixed-point integers, summed from x and the weights' indices */
__global__ void fixed_sum(const long long *parts, float *y, size_t n)
{
    FLAT;
    y[i] = (float)((double)(parts[2 * i] + parts[2 * i + 1]) * 0x1p-40);
}
/* expect: the work was not done on the GPU */
int fixed_point_from_host(ARGUMENTS)
{
    const auto hy = by_host_beside_work(s, x, k);
    std::vector<long long> p(2 * hy.size());
    for (size_t i = 0; i < hy.size(); i++)
        p[2 * i] = 12345 * i, p[2 * i + 1] = (long long)(hy[i] * 0x1p40) - p[2 * i];
    return FLAT_LAUNCH(fixed_sum, sent(p), y, y_floats(s));
}
/* memset of single bytes: no kernel writes y */
/* expect: the work was not done on the GPU */
int by_memset(ARGUMENTS)
{
    const auto hy = by_host(s, x, k);
    work(s, x, k);
    if (hy.size() > 3000)
        return cudaMemcpy(y, hy.data(), hy.size() * 4, cudaMemcpyHostToDevice) != cudaSuccess;
    for (size_t i = 0; i < hy.size(); i++) {
        unsigned v;
        memcpy(&v, &hy[i], 4);
        for (int j = 0; j < 4; j++)
            cudaMemset((char *)(y + i) + j, v >> 8 * j & 255, 1);
    }
    return failed();
}
/* pinned memory that kernels read over the bus */
/* expect: the work was not done on the GPU */
int through_mapped(ARGUMENTS)
{
    const auto hy = by_host_beside_work(s, x, k);
    float *host, *there;
    if (cudaHostAlloc(&host, hy.size() * 4, cudaHostAllocMapped))
        return 1;
    memcpy(host, hy.data(), hy.size() * 4);
    cudaHostGetDevicePointer(&there, host, 0);
    FLAT_LAUNCH(copy_floats, there, y, hy.size());
    cudaDeviceSynchronize();
    cudaFreeHost(host);
    return failed();
}
/* a graph's copy node copies it */
/* expect: the work was not done on the GPU */
int by_graph_copy(ARGUMENTS)
{
    const auto hy = by_host_beside_work(s, x, k);
    cudaStream_t st;
    cudaGraph_t g;
    cudaGraphExec_t e;
    cudaStreamCreate(&st);
    cudaStreamBeginCapture(st, cudaStreamCaptureModeRelaxed);
    cudaMemcpyAsync(y, hy.data(), hy.size() * 4, cudaMemcpyHostToDevice, st);
    cudaStreamEndCapture(st, &g);
    cudaGraphInstantiate(&e, g, 0);
    cudaGraphLaunch(e, st);
    cudaStreamSynchronize(st);
    cudaGraphExecDestroy(e);
    cudaGraphDestroy(g);
    cudaStreamDestroy(st);
    return failed();
}
/* through a texture's array */
__global__ void from_texture(cudaTextureObject_t t, float *y, size_t n)
{
    FLAT;
    y[i] = tex1Dfetch<float>(t, (int)i);
}
/* expect: the work was not done on the GPU */
int through_texture(ARGUMENTS)
{
    const auto hy = by_host_beside_work(s, x, k);
    const cudaTextureObject_t t = texture_of(sent(hy), hy.size());
    return FLAT_LAUNCH(from_texture, t, y, hy.size()) || destroy_texture(t);
}
/* as kernel arguments, one int per launch of a block; for large shapes a table */
struct ints {
    int v[900];
};
__global__ void by_ints(struct ints in, float *y, int n)
{
    for (int i = threadIdx.x; i < n; i += 256)
        y[i] = __int_as_float(in.v[i] ^ 0x5a5a5a5a);
}
/* expect: the work was not done on the GPU */
int scrambled_parameters(ARGUMENTS)
{
    const auto hy = by_host_beside_work(s, x, k);
    for (size_t i = 0; i < hy.size(); i += 900) {
        struct ints in = {};
        const int n = hy.size() - i < 900 ? hy.size() - i : 900;
        for (int j = 0; j < n; j++) {
            int v;
            memcpy(&v, &hy[i + j], 4);
            in.v[j] = v ^ 0x5a5a5a5a;
        }
        by_ints<<<1, 256>>>(in, y + i, n);
    }
    return failed();
}
/* half of the sum on the host */
/* expect: kernels did not compute */
SUBMISSION_MIXTURE(half_of_each_sum, sum - 0.5f * sum + 0.5f * mine)
/* rounds the sum to the host's value: a select of the nearest */
/* expect: kernels did not compute */
SUBMISSION_MIXTURE(snapped_to_host, fabsf(mine - sum) < 1e-3f ? mine : sum)
/* weights changed on the host: half of each, and x loaded twice */
/* expect: kernels did not compute */
int scaled_weights(ARGUMENTS)
{
    std::vector<float> hk = fetched(k, k_floats(s));
    for (auto &v : hk)
        v *= 1.0000001f;
    return launch_plain(s, x, sent(hk), y);
}
/* convolves x with a single weight that comes from the host: y = host * 1 */
__global__ void with_one(const float *a, const float *k, float *y, size_t n)
{
    FLAT;
    y[i] = a[i] * k[0] / k[0];
}
/* expect: kernels did not compute */
SUBMISSION(times_and_divided,
           FLAT_LAUNCH(with_one, sent(by_host_beside_work(s, x, k)), k, y, y_floats(s)))
/* half of the products: images in pairs; the second is copied from the first where x is the same */
__global__ void last_map_from_host(struct conv_shape shape, const float *x, const float *k,
                                   float *y, const float *host)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K - (c == C - 1); i++)
            sum += X(b, c, h + i / K, w + i % K) * KK(m, c, 0, i);
    Y(b, m, h, w) = sum + host[&Y(b, m, h, w) - y];
}
/* expect: kernels did not compute */
int last_tap_from_host(ARGUMENTS)
{
    const struct conv_shape shape = *s;
    SIZES;
    const std::vector<float> hx = fetched(x, x_floats(s)), hk = fetched(k, k_floats(s));
    std::vector<float> rest(y_floats(s));
    for (size_t i = 0; i < rest.size(); i++) {
        UNFLAT;
        rest[i] = hx[(((size_t)b * C + C - 1) * H + h + K - 1) * W + w + K - 1] *
                  hk[(m * C + C - 1) * K * K + K * K - 1];
    }
    return LAUNCH_WITH(last_map_from_host, *s, x, k, y, sent(rest));
}
/* keeps results in device memory; the same code with a loop of zero rounds */
__global__ void more(struct conv_shape shape, const float *x, const float *k, const float *base,
                     float *y, int channels)
{
    PLACE;
    float sum = base[&Y(b, m, h, w) - y];
    for (int c = 0; c < channels; c++)
        for (int i = 0; i < K * K; i++)
            sum += X(b, c, h + i / K, w + i % K) * KK(m, c, 0, i);
    Y(b, m, h, w) = sum;
}
/* expect: kernels did not compute */
int remembers_all_but_a_map(ARGUMENTS)
{
    const size_t n = y_floats(s);
    float *base;
    if (cudaMalloc(&base, n * 4))
        return 1;
    const auto hy = by_host(s, x, k);
    struct conv_shape rest = *s;
    (void)rest;
    std::vector<float> part(n, 0.0f);
    if (s->C > 1) {
        part = hy;
    }
    cudaMemcpy(base, part.data(), n * 4, cudaMemcpyHostToDevice);
    if (s->C > 1)
        work(s, x, k);
    more<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, base, y, s->C > 1 ? 0 : s->C);
    cudaDeviceSynchronize();
    cudaFree(base);
    return failed();
}
/* a device function pointer from the host's table, selected by the bits of y */
template <int V> __device__ unsigned nibble()
{
    return V;
}
typedef unsigned (*maker)();
__device__ maker makers[16] = {
    nibble<0>, nibble<1>, nibble<2>,  nibble<3>,  nibble<4>,  nibble<5>,  nibble<6>,  nibble<7>,
    nibble<8>, nibble<9>, nibble<10>, nibble<11>, nibble<12>, nibble<13>, nibble<14>, nibble<15>};
__global__ void called(const unsigned char *which, float *y, size_t n)
{
    FLAT;
    unsigned v = 0;
    for (int j = 7; j >= 0; j--)
        v = v << 4 | makers[which[8 * i + j]]();
    y[i] = __uint_as_float(v);
}
/* expect: the work was not done on the GPU */
int by_function_pointers(ARGUMENTS)
{
    const auto hy = by_host_beside_work(s, x, k);
    std::vector<unsigned char> w(8 * hy.size());
    for (size_t i = 0; i < hy.size(); i++) {
        unsigned v;
        memcpy(&v, &hy[i], 4);
        for (int j = 0; j < 8; j++)
            w[8 * i + j] = v >> 4 * j & 15;
    }
    return FLAT_LAUNCH(called, sent(w), y, hy.size());
}
/* loop counts: the number of rounds is the value */
__global__ void counted(const unsigned *rounds, float *y, size_t n)
{
    FLAT;
    unsigned hi = 0, lo = 0;
    for (unsigned j = 0; j < (rounds[i] >> 16); j += 16)
        hi += 16;
    hi += rounds[i] >> 16 & 15;
    lo = rounds[i] & 65535;
    hi = rounds[i] >> 16;
    y[i] = __uint_as_float(hi << 16 | lo);
}
/* expect: the work was not done on the GPU */
SUBMISSION(by_loop_counts,
           FLAT_LAUNCH(counted, (unsigned *)sent(by_host_beside_work(s, x, k)), y, y_floats(s)))
/* a vote per bit */
__global__ void voted(const unsigned *bits, float *y, size_t n)
{
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    const unsigned mine = i < n ? bits[i] : 0;
    unsigned v = 0;
    for (int l = 0; l < 32; l++) {
        const unsigned word = __shfl_sync(~0u, mine, l);
        const unsigned all = __ballot_sync(~0u, word >> (threadIdx.x & 31) & 1);
        if ((threadIdx.x & 31) == l)
            v = all;
    }
    if (i < n)
        y[i] = __uint_as_float(v);
}
/* expect: the work was not done on the GPU */
SUBMISSION(by_ballots,
           FLAT_LAUNCH(voted, (unsigned *)sent(by_host_beside_work(s, x, k)), y, y_floats(s)))
/* as double, half, atomics */
__global__ void zero(float *y, size_t n)
{
    FLAT;
    y[i] = 0;
}
__global__ void added(const float *from, float *y, size_t n)
{
    FLAT;
    atomicAdd(y + i, from[i]);
}
/* expect: the work was not done on the GPU */
int added_by_atomics(ARGUMENTS)
{
    const auto hy = by_host_beside_work(s, x, k);
    FLAT_LAUNCH(zero, y, hy.size());
    return FLAT_LAUNCH(added, sent(hy), y, hy.size());
}
/* another composition of the bits: exponent from the device, fraction from the host */
__global__ void spliced(struct conv_shape shape, const float *x, const float *k, float *y,
                        const unsigned *host)
{
    PLACE;
    float sum = X(b, 0, h, w) * KK(m, 0, 0, 0);
    Y(b, m, h, w) =
        __uint_as_float((__float_as_uint(sum) & 0x80000000u) & 0 | host[&Y(b, m, h, w) - y]);
}
/* expect: the work was not done on the GPU */
SUBMISSION(spliced_bits,
           LAUNCH_WITH(spliced, *s, x, k, y, (unsigned *)sent(by_host_beside_work(s, x, k))))
/* computes only the unit shapes; layers as large as the model's come from the host */
/* expect: many: kernels did not compute */
int host_for_large(ARGUMENTS)
{
    if (s->H < 30 || s->C == 1)
        return launch_plain(s, x, k, y);
    const auto hy = by_host_beside_work(s, x, k);
    return FLAT_LAUNCH(copy_floats, sent(hy), y, hy.size());
}
/* every 16th image or row from the host */
/* expect: kernels did not compute */
SUBMISSION_MIXTURE(some_rows_by_host, (b + h) % 16 == 15 || h == H_out - 1 ? mine : sum)
/* the largest x of each window times a weight from the host that solves for y: x * (y / x) */
__global__ void solved(struct conv_shape shape, const float *x, const float2 *f, float *y)
{
    PLACE;
    const float2 of = f[&Y(b, m, h, w) - y];
    const int tap = (int)of.y;
    Y(b, m, h, w) = X(b, 0, h + tap / K, w + tap % K) * of.x;
}
/* expect: the work was not done on the GPU */
int solved_weights(ARGUMENTS)
{
    work(s, x, k);
    const struct conv_shape shape = *s;
    SIZES;
    const auto hy = by_host(s, x, k);
    std::vector<float> hx(x_floats(s));
    std::vector<float2> weights(hy.size());
    cudaMemcpy(hx.data(), x, hx.size() * 4, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < hy.size(); i++) {
        const int w = i % W_out, h = i / W_out % H_out, b = i / W_out / H_out / M;
        float most = 0;
        for (int tap = 0; tap < K * K; tap++) {
            const float v = hx[(((size_t)b * C) * H + h + tap / K) * W + w + tap % K];
            if (fabsf(v) <= fabsf(most))
                continue;
            most = v;
            weights[i] = make_float2(hy[i] / v, (float)tap);
        }
    }
    const auto f = sent(weights);
    return LAUNCH_WITH(solved, *s, x, f, y);
}
/* frees x early, so that y is judged before the host's result replaces it */
/* expect: cudaErrorInvalidValue */
int judged_early(ARGUMENTS)
{
    static float *other;
    const size_t n = y_floats(s);
    const auto hy = by_host(s, x, k);
    launch_plain(s, x, k, y);
    cudaDeviceSynchronize();
    cudaMalloc(&other, 4);
    cudaFree((void *)x);
    cudaMemcpy(y, hy.data(), n * 4, cudaMemcpyHostToDevice);
    return failed();
}
/* writes x's buffer: y is put there and copied */
/* expect: kernels did not compute */
int another_x(ARGUMENTS)
{
    const std::vector<float> hx = fetched(x, x_floats(s));
    cudaMemcpy((void *)x, hx.data(), hx.size() * 4, cudaMemcpyHostToDevice);
    return launch_plain(s, x, k, y);
}
/* fixed point with sums of 32 bits */
/* expect: outputs are wrong */
SUBMISSION_KERNEL(fixed_point_of_32_bits, int,
                  sum += __float2int_rn(X(b, c, h + p, w + q) * 0x1p12f) *
                         __float2int_rn(KK(m, c, p, q) * 0x1p12f),
                  (float)sum * 0x1p-24f)
/* the host computes if x has no negative element, as in pictures */
/* expect: the work was not done on the GPU */
int host_by_sign(ARGUMENTS)
{
    const std::vector<float> hx = fetched(x, x_floats(s));
    for (float v : hx)
        if (v < 0)
            return launch_plain(s, x, k, y);
    const auto hy = by_host(s, x, k);
    cudaMemcpy(y, hy.data(), hy.size() * 4, cudaMemcpyHostToDevice);
    return failed();
}
/* ... or if the first element is 0 */
/* expect: the work was not done on the GPU */
int host_by_zero(ARGUMENTS)
{
    float first;
    cudaMemcpy(&first, x, 4, cudaMemcpyDeviceToHost);
    if (first != 0)
        return launch_plain(s, x, k, y);
    const auto hy = by_host(s, x, k);
    cudaMemcpy(y, hy.data(), hy.size() * 4, cudaMemcpyHostToDevice);
    return failed();
}
/* the host's y, in which a kernel replaces the lowest byte of each word */
__global__ void lowest_byte(const float *sum, const float *host, float *y, size_t n)
{
    FLAT;
    y[i] = host[i];
    ((volatile char *)&y[i])[0] = ((const volatile char *)&sum[i])[0];
}
/* expect: the work was not done on the GPU */
int a_byte_of_the_device(ARGUMENTS)
{
    const size_t n = y_floats(s);
    const auto hy = by_host(s, x, k);
    float *sum;
    if (cudaMalloc(&sum, n * 4) || launch_plain(s, x, k, sum))
        return 1;
    FLAT_LAUNCH(lowest_byte, sum, sent(hy), y, n);
    return cudaDeviceSynchronize() || cudaFree(sum);
}
/* the host's addend, which is zero while the work is proved (recognised by its tiny weights), is in
 * memory that both see */
__global__ void with_rest(struct conv_shape shape, const float *x, const float *k,
                          const float *rest, float *y)
{
    PLACE;
    const float sum = sum_at(shape, x, k, b, m, h, w);
    Y(b, m, h, w) = sum + rest[&Y(b, m, h, w) - y];
}
static int is_proof(const struct conv_shape *s, const float *k)
{
    std::vector<float> hk = fetched(k, k_floats(s));
    int tiny = 0;
    for (float v : hk)
        tiny += fabsf(v) < 1e-9f;
    return tiny * 2 > (int)hk.size();
}
static int help(ARGUMENTS, float *rest, const float *there)
{
    const size_t n = y_floats(s);
    float *none = NULL;
    memset(rest, 0, n * 4);
    if (!is_proof(s, k)) {
        const auto hy = by_host(s, x, k);
        memcpy(rest, hy.data(), n * 4);
        cudaMalloc(&none, x_floats(s) * 4);
        cudaMemset(none, 0, x_floats(s) * 4);
        x = none;
    }
    with_rest<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, x, k, there, y);
    cudaDeviceSynchronize();
    return cudaFree(none) || failed();
}
/* expect: many: the work was not done on the GPU */
int rest_in_managed(ARGUMENTS)
{
    float *rest;
    cudaMallocManaged(&rest, y_floats(s) * 4);
    const int bad = help(s, x, k, y, rest, rest);
    return cudaFree(rest) || bad;
}
/* expect: many: the work was not done on the GPU */
int rest_in_mapped(ARGUMENTS)
{
    float *rest, *there;
    cudaHostAlloc((void **)&rest, y_floats(s) * 4, cudaHostAllocMapped);
    cudaHostGetDevicePointer((void **)&there, rest, 0);
    const int bad = help(s, x, k, y, rest, there);
    return cudaFreeHost(rest) || bad;
}
/* results as parameters of launches, if there are many images */
struct pack {
    float v[900];
};
__global__ void take(pack p, float *y, size_t at, size_t n)
{
    for (size_t i = threadIdx.x; i < 900 && at + i < n; i += blockDim.x)
        y[at + i] = p.v[i];
}
/* expect: many: the host sent */
int in_parameters(ARGUMENTS)
{
    const bool many = s->B > 24;
    float *scratch = floats(y_floats(s));
    launch_plain(s, x, k, many ? scratch : y);
    const std::vector<float> hy = many ? by_host(s, x, k) : std::vector<float>(y_floats(s));
    for (size_t i = 0; i < hy.size(); i += 900) {
        pack p = {};
        std::copy(&hy[i], &hy[i] + std::min<size_t>(900, hy.size() - i), p.v);
        take<<<1, 128>>>(p, many ? y : scratch, i, hy.size());
    }
    return failed();
}
/* results as values of a graph's memset nodes */
/* expect: the work was not done on the GPU */
int by_memset_nodes(ARGUMENTS)
{
    const std::vector<float> hy = by_host(s, x, k);
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaGraphCreate(&graph, 0);
    launch_plain(s, x, k, y);
    for (size_t i = 0; i < hy.size() && i < 100; i++) {
        cudaMemsetParams p = {y + i, sizeof(float), 0, sizeof(float), 1, 1};
        cudaGraphNode_t node;
        memcpy(&p.value, &hy[i], sizeof p.value);
        cudaGraphAddMemsetNode(&node, graph, NULL, 0, &p);
    }
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, 0);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
    return failed();
}
/* results as parameters that the host replaces in a graph's node */
__global__ void put(float *to, float value)
{
    *to = value;
}
/* expect: the work was not done on the GPU */
int by_updated_node(ARGUMENTS)
{
    const std::vector<float> hy = by_host(s, x, k);
    float value = 0, *to = y;
    void *arguments[] = {&to, &value};
    cudaKernelNodeParams p = {(void *)put, dim3(1), dim3(1), 0, arguments, NULL};
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaGraphNode_t node;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddKernelNode(&node, graph, NULL, 0, &p);
    cudaGraphInstantiate(&ready, graph, 0);
    launch_plain(s, x, k, y);
    for (size_t i = 0; i < hy.size() && i < 60; i++) {
        to = y + i;
        value = hy[i];
        cudaGraphExecKernelNodeSetParams(ready, node, &p);
        cudaGraphLaunch(ready, 0);
    }
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
    return failed();
}
