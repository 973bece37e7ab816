/* More right convolutions, for m2: Thrust and CUB, textures, pipelines, queues, other sums and layouts. */
#include "m2.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda/atomic>
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/transform.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/execution_policy.h>
namespace cg = cooperative_groups;

struct one_output {
    struct conv_shape shape;
    const float *x, *k;
    __device__ float operator()(size_t i) const
    {
        SIZES;
        UNFLAT;
        const float sum = sum_at(shape, x, k, b, m, h, w);
        return sum;
    }
};
/* expect: right */
int thrust_transform(ARGUMENTS)
{
    thrust::transform(thrust::device, thrust::counting_iterator<size_t>(0),
                      thrust::counting_iterator<size_t>(y_floats(s)),
                      thrust::device_pointer_cast(y), one_output{*s, x, k});
    return failed();
}
/* expect: right */
int thrust_vector(ARGUMENTS)
{
    thrust::device_vector<float> hk(thrust::device_pointer_cast(k),
                                    thrust::device_pointer_cast(k) + k_floats(s));
    thrust::device_vector<float> out(y_floats(s));
    thrust::transform(thrust::counting_iterator<size_t>(0),
                      thrust::counting_iterator<size_t>(y_floats(s)), out.begin(),
                      one_output{*s, x, thrust::raw_pointer_cast(hk.data())});
    thrust::copy(out.begin(), out.end(), thrust::device_pointer_cast(y));
    return failed();
}
__global__ void seq_thrust(struct conv_shape shape, const float *x, const float *k, float *y)
{
    PLACE;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int p = 0; p < K; p++)
            sum = thrust::inner_product(thrust::seq, &X(b, c, h + p, w), &X(b, c, h + p, w) + K,
                                        &KK(m, c, p, 0), sum);
    Y(b, m, h, w) = sum;
}
/* expect: right */
SUBMISSION(thrust_in_kernel, LAUNCH(seq_thrust))

struct one_product {
    struct conv_shape shape;
    const float *x, *k;
    __device__ float operator()(size_t j) const
    {
        SIZES;
        const int n = C * K * K, t = j % n;
        const size_t i = j / n;
        UNFLAT;
        return X(b, t / (K * K), h + t / K % K, w + t % K) * KK(m, 0, 0, t);
    }
};
struct times_n {
    int n;
    __host__ __device__ int operator()(int i) const
    {
        return i * n;
    }
};
/* expect: right */
int cub_segments(ARGUMENTS)
{
    const int n = s->C * s->K * s->K;
    auto products = thrust::make_transform_iterator(thrust::counting_iterator<size_t>(0),
                                                    one_product{*s, x, k});
    auto offsets = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), times_n{n});
    size_t bytes = 0;
    cub::DeviceSegmentedReduce::Sum(NULL, bytes, products, y, (int)y_floats(s), offsets,
                                    offsets + 1);
    void *room = conv_workspace(bytes + 1);
    cub::DeviceSegmentedReduce::Sum(room, bytes, products, y, (int)y_floats(s), offsets,
                                    offsets + 1);
    return failed();
}
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
/* block copy with cg::memcpy_async of whole rows */
__global__ void group_copy(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float rows[];
    auto block = cg::this_thread_block();
    const int h = blockIdx.x, m = blockIdx.y, b = blockIdx.z;
    for (int w0 = 0; w0 < W_out; w0 += blockDim.x) {
        const int w = w0 + threadIdx.x;
        float sum = 0;
        for (int c = 0; c < C; c++) {
            cg::memcpy_async(block, rows, &X(b, c, h, 0), sizeof(float) * K * W);
            cg::wait(block);
            for (int i = 0; i < K * K && w < W_out; i++)
                sum += rows[i / K * W + w + i % K] * KK(m, c, 0, i);
            block.sync();
        }
        if (w < W_out)
            Y(b, m, h, w) = sum;
    }
}
/* expect: right */
int memcpy_async_rows(ARGUMENTS)
{
    if (s->K * s->W * 4 > 48000)
        return launch_plain(s, x, k, y);
    group_copy<<<dim3(s->H - s->K + 1, s->M, s->B), 64, s->K * s->W * 4>>>(*s, x, k, y);
    return failed();
}
__global__ void piped(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    extern __shared__ float rows[];
    auto block = cg::this_thread_block();
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipe = cuda::make_pipeline(block, &state);
    const int h = blockIdx.x, m = blockIdx.y, b = blockIdx.z, jobs = (W_out + 63) / 64 * C;
    float sum = 0;
    for (int job = 0, next = 0; job < jobs; job++) {
        for (; next < jobs && next < job + 2; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, rows + next % 2 * K * W, &X(b, next % C, h, 0),
                               sizeof(float) * K * W, pipe);
            pipe.producer_commit();
        }
        const int c = job % C, w = job / C * 64 + threadIdx.x;
        sum = c ? sum : 0;
        pipe.consumer_wait();
        for (int i = 0; i < K * K && w < W_out; i++)
            sum += rows[job % 2 * K * W + i / K * W + w + i % K] * KK(m, c, 0, i);
        pipe.consumer_release();
        if (c == C - 1 && w < W_out)
            Y(b, m, h, w) = sum;
    }
}
/* expect: right */
int cuda_pipeline(ARGUMENTS)
{
    if (s->K * s->W * 8 > 48000)
        return launch_plain(s, x, k, y);
    piped<<<dim3(s->H - s->K + 1, s->M, s->B), 64, s->K * s->W * 8>>>(*s, x, k, y);
    return failed();
}
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
__global__ void cooperative(struct conv_shape shape, const float *x, const float *k, float *part,
                            float *y)
{
    SIZES;
    const size_t n = (size_t)B * M * H_out * W_out;
    auto grid = cg::this_grid();
    for (size_t j = grid.thread_rank(); j < n * C; j += grid.size()) {
        const size_t i = j % n;
        const int c = j / n;
        UNFLAT;
        const float sum = channel_at(shape, x, k, b, m, c, h, w);
        part[j] = sum;
    }
    grid.sync();
    for (size_t i = grid.thread_rank(); i < n; i += grid.size()) {
        float sum = 0;
        for (int c = 0; c < C; c++)
            sum += part[c * n + i];
        y[i] = sum;
    }
}
/* expect: right */
int cooperative_launch(ARGUMENTS)
{
    float *part = floats(y_floats(s) * s->C);
    struct conv_shape shape = *s;
    void *args[] = {&shape, &x, &k, &part, &y};
    return cudaLaunchCooperativeKernel((void *)cooperative, dim3(64), dim3(128), args, 0, 0) !=
           cudaSuccess;
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
__global__ void ref_add(struct conv_shape shape, const float *x, const float *k, float *y)
{
    FLAT_PLACE;
    const int c = blockIdx.y;
    const float sum = channel_at(shape, x, k, b, m, c, h, w);
    cuda::atomic_ref<float, cuda::thread_scope_device>(y[i]).fetch_add(sum,
                                                                       cuda::memory_order_relaxed);
}
/* expect: right */
int atomic_ref_add(ARGUMENTS)
{
    const size_t n = y_floats(s);
    cudaMemsetAsync(y, 0, n * 4);
    ref_add<<<dim3((n + 255) / 256, s->C), 256>>>(*s, x, k, y);
    return failed();
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
/* signs: y = -(-sum), abs, copysign, fdividef by 2 */
/* expect: right */
SUBMISSION_KERNEL(halves, float, sum += X(b, c, h + p, w + q) * KK(m, c, p, q) / 2.0f, sum * 2.0f)
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
/* fixed point: 2^-26 for each factor, sums of 64 bits */
__device__ long long fixed(float v)
{
    return __float2int_rn(v * 0x1p26f);
}
/* expect: right */
SUBMISSION_KERNEL(fixed_point_of_64_bits, long long,
                  sum += fixed(X(b, c, h + p, w + q)) * fixed(KK(m, c, p, q)),
                  (float)sum * 0x1p-52f)
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
