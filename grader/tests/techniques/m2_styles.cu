/* More right convolutions, for m2: queues, textures, layouts, memory, launches, and the structure
 * of the code. */
#include "m2.cuh"

#include <algorithm>

__device__ unsigned next_tile;
__global__ void queue(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    __shared__ unsigned mine;
    const unsigned n = B * M * H_out;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0)
            mine = atomicAdd(&next_tile, 1);
        __syncthreads();
        if (mine >= n)
            return;
        const int h = mine % H_out, m = mine / H_out % M, b = mine / H_out / M;
        for (int w = threadIdx.x; w < W_out; w += blockDim.x) {
            Y(b, m, h, w) = sum_at(shape, x, k, b, m, h, w);
        }
    }
}
/* expect: right */
int work_queue(ARGUMENTS)
{
    const unsigned zero = 0;
    cudaMemcpyToSymbol(next_tile, &zero, 4);
    queue<<<132, 64>>>(*s, x, k, y);
    return failed();
}
__global__ void strided(struct conv_shape shape, const float *__restrict__ x,
                        const float *__restrict__ k, float *__restrict__ y)
{
    SIZES;
    const size_t n = (size_t)B * M * H_out * W_out;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        UNFLAT;
        float sum = 0;
        for (int c = 0; c < C; c++)
            for (int t = 0; t < K * K; t++)
                sum = fmaf(X(b, c, h + t / K, w + t % K), KK(m, c, 0, t), sum);
        y[i] = sum;
    }
}
/* expect: right */
SUBMISSION_LAUNCH(grid_stride, strided<<<264, 256>>>(*s, x, k, y))

/* four outputs per thread; composes float4 from unaligned elements */
__global__ void four(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const int quads = (W_out + 3) / 4;
    const size_t i0 = (size_t)blockIdx.x * 128 + threadIdx.x;
    if (i0 >= (size_t)B * M * H_out * quads)
        return;
    const int w = i0 % quads * 4, h = i0 / quads % H_out, m = i0 / quads / H_out % M,
              b = i0 / quads / H_out / M;
    float4 sum = {0, 0, 0, 0};
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++) {
                const float *r = &X(b, c, h + p, 0);
                const int at = w + q;
                float4 v;
                if (((size_t)(r + at) & 15) == 0 && at + 3 < W)
                    v = *(const float4 *)(r + at);
                else
                    v = make_float4(r[at], at + 1 < W ? r[at + 1] : 0, at + 2 < W ? r[at + 2] : 0,
                                    at + 3 < W ? r[at + 3] : 0);
                const float f = KK(m, c, p, q);
                sum.x += v.x * f, sum.y += v.y * f, sum.z += v.z * f, sum.w += v.w * f;
            }
    const float out[4] = {sum.x, sum.y, sum.z, sum.w};
    for (int j = 0; j < 4 && w + j < W_out; j++)
        Y(b, m, h, w + j) = out[j];
}
/* expect: right */
int float4_loads(ARGUMENTS)
{
    const size_t n = y_floats(s);
    four<<<(n + 127) / 128, 128>>>(*s, x, k, y);
    return failed();
}

/* 2D array texture, one layer per map */
__global__ void array_texture(struct conv_shape shape, cudaTextureObject_t t, const float *k,
                              float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++)
            sum += tex2DLayered<float>(t, w + i % K + 0.5f, h + i / K + 0.5f, b * C + c) *
                   KK(m, c, 0, i);
    Y(b, m, h, w) = sum;
}
/* expect: right */
int layered_texture(ARGUMENTS)
{
    cudaArray_t a;
    cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
    if (s->B * s->C > 2048)
        return launch_plain(s, x, k, y);
    if (cudaMalloc3DArray(&a, &d, make_cudaExtent(s->W, s->H, s->B * s->C), cudaArrayLayered))
        return 1;
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr((void *)x, s->W * 4, s->W, s->H);
    p.dstArray = a;
    p.extent = make_cudaExtent(s->W, s->H, s->B * s->C);
    p.kind = cudaMemcpyDeviceToDevice;
    if (cudaMemcpy3D(&p))
        return 2;
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaTextureDesc how = {};
    how.filterMode = cudaFilterModePoint;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t t;
    if (cudaCreateTextureObject(&t, &r, &how, NULL))
        return 3;
    array_texture<<<tiles(s, 16, s->B * s->M), dim3(16, 16)>>>(*s, t, k, y);
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(t);
    cudaFreeArray(a);
    return failed();
}
/* virtual functions of objects made in the kernel */
struct source {
    __device__ virtual float at(int c, int i) const = 0;
    __device__ virtual ~source()
    {
    }
};
struct window : source {
    const float *x;
    int H, W, K;
    __device__ window(const float *x, int H, int W, int K) : x(x), H(H), W(W), K(K)
    {
    }
    __device__ float at(int c, int i) const override
    {
        return x[((size_t)c * H + i / K) * W + i % K];
    }
};
struct filter : source {
    const float *k;
    int K;
    __device__ filter(const float *k, int K) : k(k), K(K)
    {
    }
    __device__ float at(int c, int i) const override
    {
        return k[c * K * K + i];
    }
};
__device__ __noinline__ float dot(const source *a, const source *b, int C, int n)
{
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < n; i++)
            sum += a->at(c, i) * b->at(c, i);
    return sum;
}
__global__ void objects(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    const window a(&X(b, 0, h, w), H, W, K);
    const filter f(&KK(m, 0, 0, 0), K);
    Y(b, m, h, w) = dot(&a, &f, C, K * K);
}
/* expect: right */
SUBMISSION(virtual_functions, LAUNCH(objects))
/* local array of the window, indexed */
__global__ void local_window(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float win[64], sum = 0;
    for (int c = 0; c < C; c++)
        for (int i0 = 0; i0 < K * K; i0 += 64) {
            const int n = min(64, K * K - i0);
            for (int i = 0; i < n; i++)
                win[i] = X(b, c, h + (i0 + i) / K, w + (i0 + i) % K);
            for (int i = n - 1; i >= 0; i--)
                sum += win[i] * KK(m, c, 0, i0 + i);
        }
    Y(b, m, h, w) = sum;
}
/* expect: right */
SUBMISSION(local_array, LAUNCH(local_window))
/* weights transposed on the device; a kernel makes x channel-last, another transposes by tiles in
 * shared memory */
__global__ void to_nhwc(struct conv_shape shape, const float *x, float *to)
{
    SIZES;
    const size_t n = (size_t)B * C * H * W, i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    const int c = i % C;
    const size_t at = i / C;
    const int w = at % W, h = at / W % H, b = at / W / H;
    to[i] = X(b, c, h, w);
}
__global__ void nhwc(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0;
    for (int p = 0; p < K; p++)
        for (int q = 0; q < K; q++)
            for (int c = 0; c < C; c++)
                sum += x[((size_t)(b * H + h + p) * W + w + q) * C + c] * KK(m, c, p, q);
    Y(b, m, h, w) = sum;
}
/* expect: right */
int channels_last(ARGUMENTS)
{
    const size_t n = x_floats(s);
    float *to = floats(n);
    to_nhwc<<<(n + 255) / 256, 256>>>(*s, x, to);
    return LAUNCH_WITH(nhwc, *s, to, k, y);
}
/* mapped pinned host memory as scratch */
/* expect: right */
int mapped_scratch(ARGUMENTS)
{
    float *host, *there;
    if (cudaHostAlloc(&host, k_floats(s) * 4, cudaHostAllocMapped))
        return 1;
    cudaHostGetDevicePointer(&there, host, 0);
    cudaMemcpy(host, k, k_floats(s) * 4, cudaMemcpyDeviceToHost);
    const int bad = launch_plain(s, x, there, y);
    cudaDeviceSynchronize();
    cudaFreeHost(host);
    return bad;
}
/* batch by batch, with events between streams and stream-ordered allocation */
/* expect: right */
int async_alloc(ARGUMENTS)
{
    cudaStream_t a, b2;
    cudaEvent_t e;
    float *t;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b2);
    cudaEventCreate(&e);
    cudaMallocAsync(&t, y_floats(s) * 4, a);
    plain<<<tiles(s, 16, s->B * s->M), dim3(16, 16), 0, a>>>(*s, x, k, t);
    cudaEventRecord(e, a);
    cudaStreamWaitEvent(b2, e, 0);
    cudaMemcpyAsync(y, t, y_floats(s) * 4, cudaMemcpyDeviceToDevice, b2);
    cudaStreamSynchronize(b2);
    cudaFreeAsync(t, a);
    cudaStreamSynchronize(a);
    cudaEventDestroy(e);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b2);
    return failed();
}
/* one launch per image and map, in another order */
/* expect: right */
int launch_per_image(ARGUMENTS)
{
    struct conv_shape one = *s;
    one.B = 1;
    for (int b = 0; b < s->B; b++)
        plain<<<tiles(s, 16, s->M), dim3(16, 16)>>>(one, x + (size_t)b * s->C * s->H * s->W, k,
                                                    y + (size_t)b * s->M * (s->H - s->K + 1) *
                                                            (s->W - s->K + 1));
    return failed();
}
template <int K_, typename T> struct conv_traits {
    typedef T acc;
    enum { taps = K_ * K_ };
};
template <typename TR, int K_>
__global__ __launch_bounds__(256, 2) void templated(struct conv_shape shape, const float *x,
                                                    const float *k, float *y)
{
    PLACE;
    typename TR::acc sum = 0;
    for (int c = 0; c < C; c++) {
        const float *xp = &X(b, c, h, w), *kp = &KK(m, c, 0, 0);
#pragma unroll
        for (int i = 0; i < TR::taps; i++)
            sum += xp[i / K_ * W + i % K_] * kp[i];
    }
    Y(b, m, h, w) = sum;
}
/* expect: right */
int template_switch(ARGUMENTS)
{
    switch (s->K) {
#define CASE(n)                                                                                    \
    case n:                                                                                        \
        return LAUNCH((templated<conv_traits<n, float>, n>));
        CASE(1) CASE(2) CASE(3) CASE(5) CASE(7) default : return launch_plain(s, x, k, y);
    }
}
/* bit reinterpretation: float moved as unsigned and int64 */
__global__ void as_bits(struct conv_shape shape, const unsigned *xb, const unsigned *kb, float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < K * K; i++) {
            const unsigned long long both =
                (unsigned long long)xb[(((size_t)b * C + c) * H + h + i / K) * W + w + i % K]
                    << 32 |
                kb[(m * C + c) * K * K + i];
            sum += __uint_as_float((unsigned)(both >> 32)) * __uint_as_float((unsigned)both);
        }
    Y(b, m, h, w) = sum;
}
/* expect: right */
SUBMISSION(bits_in_64, LAUNCH_WITH(as_bits, *s, (const unsigned *)x, (const unsigned *)k, y))
/* the host reorders the weights into managed memory */
/* expect: right */
int managed_weights(ARGUMENTS)
{
    float *there;
    if (cudaMallocManaged(&there, k_floats(s) * 4))
        return 1;
    cudaMemcpy(there, k, k_floats(s) * 4, cudaMemcpyDeviceToHost);
    std::vector<float> copy(there, there + k_floats(s));
    for (size_t i = 0; i < copy.size(); i++)
        there[i] = copy[i];
    const int bad = launch_plain(s, x, there, y);
    cudaDeviceSynchronize();
    cudaFree(there);
    return bad;
}
/* a kernel pads x with a border of zeros, so that no guards are needed */
__global__ void pad(struct conv_shape shape, const float *x, float *to, int Wp)
{
    SIZES;
    const size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    const size_t n = (size_t)B * C * H * Wp;
    if (i < n) {
        const int w = i % Wp;
        to[i] = w < W ? x[i / Wp * W + w] : 0.0f;
    }
}
__global__ void padded(struct conv_shape shape, const float *x, const float *k, float *y, int Wp)
{
    SIZES;
    const size_t row = blockIdx.x;
    const int h = row % H_out, m = row / H_out % M, b = row / H_out / M, w = threadIdx.x * 4;
    if (w >= W_out)
        return;
    float4 sum = {};
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++) {
            const float4 *r = (const float4 *)(x + (((size_t)b * C + c) * H + h + p) * Wp + w);
            float4 a = r[0];
            for (int q0 = 0; q0 < K; q0 += 4) {
                const float4 z = r[q0 / 4 + 1];
                const float v[8] = {a.x, a.y, a.z, a.w, z.x, z.y, z.z, z.w};
#pragma unroll
                for (int q = 0; q < 4; q++)
                    if (q0 + q < K) {
                        const float f = KK(m, c, p, q0 + q);
                        sum.x += v[q] * f, sum.y += v[q + 1] * f, sum.z += v[q + 2] * f,
                            sum.w += v[q + 3] * f;
                    }
                a = z;
            }
        }
    float *o = &Y(b, m, h, w);
    o[0] = sum.x;
    if (w + 1 < W_out)
        o[1] = sum.y;
    if (w + 2 < W_out)
        o[2] = sum.z;
    if (w + 3 < W_out)
        o[3] = sum.w;
}
/* expect: right */
int padded_float4(ARGUMENTS)
{
    const int Wp = (s->W + 3) / 4 * 4 + 8;
    const size_t n = (size_t)s->B * s->C * s->H * Wp;
    float *to = floats(n);
    pad<<<(n + 255) / 256, 256>>>(*s, x, to, Wp);
    padded<<<s->B * s->M *(s->H - s->K + 1), (s->W + 3) / 4>>>(*s, to, k, y, Wp);
    return failed();
}
/* rows of a length unknown to the compiler, so that memcpy copies bytes */
__global__ void with_memcpy(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float row[8], sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q += 8) {
                memcpy(row, &X(b, c, h + p, w + q), min(8, K - q) * sizeof(float));
                for (int i = 0; i < min(8, K - q); i++)
                    sum += row[i] * KK(m, c, p, q + i);
            }
    Y(b, m, h, w) = sum;
}
/* expect: right */
SUBMISSION(copies_rows, LAUNCH(with_memcpy))
/* two weights are loaded as one word of 64 bits, or joined to one */
__global__ void pairs_of_weights(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0;
    for (int t = 0; t < C * K * K; t += 2) {
        const float *f = &KK(m, 0, 0, t);
        const int next = min(t + 1, C * K * K - 1);
        unsigned long long both =
            (size_t)f % 8 || next == t
                ? (unsigned long long)__float_as_uint(KK(m, 0, 0, next)) << 32 | __float_as_uint(*f)
                : *(const unsigned long long *)f;
        for (int i = t; i <= next; i++, both >>= 32)
            sum += X(b, i / (K * K), h + i / K % K, w + i % K) * __uint_as_float((unsigned)both);
    }
    Y(b, m, h, w) = sum;
}
/* expect: right */
SUBMISSION(words_of_64_bits, LAUNCH(pairs_of_weights))
/* weights as parameters of a launch for each image and map */
struct taps_900 {
    float w[900];
};
__global__ void with_filter(struct conv_shape shape, taps_900 f, const float *x, float *y, int from)
{
    SIZES;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= H_out * W_out)
        return;
    float sum = from ? y[i] : 0;
    for (int t = from; t < from + 900 && t < C * K * K; t++)
        sum += X(0, t / (K * K), i / W_out + t / K % K, i % W_out + t % K) * f.w[t - from];
    y[i] = sum;
}
/* expect: many */
int weights_in_parameters(ARGUMENTS)
{
    const int taps = s->C * s->K * s->K, plane = (s->H - s->K + 1) * (s->W - s->K + 1);
    std::vector<float> hk(k_floats(s));
    cudaMemcpy(hk.data(), k, hk.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < s->B * s->M; i++)
        for (int from = 0; from < taps; from += 900) {
            taps_900 f = {};
            const float *w = &hk[(size_t)(i % s->M) * taps + from];
            std::copy(w, w + std::min(900, taps - from), f.w);
            with_filter<<<(plane + 127) / 128, 128>>>(
                *s, f, x + (size_t)(i / s->M) * s->C * s->H * s->W, y + (size_t)i * plane, from);
        }
    return failed();
}
/* Sums that are stored by exchanges, two at a time, and sums that exchanges take out of scratch memory. */
__global__ void exchange_pairs(struct conv_shape shape, const float *x, const float *k,
                               unsigned long long *to, size_t n)
{
    SIZES;
    const size_t pair = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float sum[2] = {0, 0};
    for (size_t i = 2 * pair; i < n && i < 2 * pair + 2; i++) {
        UNFLAT;
        sum[i % 2] = sum_at(shape, x, k, b, m, h, w);
    }
    if (2 * pair < n)
        atomicExch(to + pair,
                   (unsigned long long)__float_as_uint(sum[1]) << 32 | __float_as_uint(sum[0]));
}
/* expect: right */
int stored_by_exchanges(ARGUMENTS)
{
    const size_t n = y_floats(s);
    float *pairs = floats(n + 1);
    cudaMemset(pairs, 0, (n + 1) * sizeof(float));
    exchange_pairs<<<(n / 2 + 128) / 128, 128>>>(*s, x, k, (unsigned long long *)pairs, n);
    cudaMemcpyAsync(y, pairs, n * sizeof(float), cudaMemcpyDeviceToDevice);
    return failed();
}
__global__ void add_maps(struct conv_shape shape, const float *x, const float *k, float *sums)
{
    FLAT_PLACE;
    for (int c = 0; c < C; c++)
        atomicAdd(&sums[i], channel_at(shape, x, k, b, m, c, h, w));
}
__global__ void take_out(float *sums, float *y, size_t n)
{
    FLAT;
    y[i] = atomicExch(&sums[i], 0.0f);
}
/* expect: right */
int taken_by_exchanges(ARGUMENTS)
{
    const size_t n = y_floats(s);
    float *sums = floats(n);
    cudaMemsetAsync(sums, 0, n * sizeof(float));
    add_maps<<<(n + 255) / 256, 256>>>(*s, x, k, sums);
    return FLAT_LAUNCH(take_out, sums, y, n);
}
