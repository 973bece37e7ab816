/* More right convolutions, for m2: Thrust, CUB, cooperative groups, pipelines and atomics of the
 * CUDA libraries. */
#include "m2.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
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

__global__ void groups_each(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const size_t i = (size_t)blockIdx.x * 16 + tile.meta_group_rank();
    if (i >= (size_t)B * M * H_out * W_out)
        return;
    UNFLAT;
    float sum = 0;
    for (int t = tile.thread_rank(); t < C * K * K; t += 8)
        sum += X(b, t / (K * K), h + t / K % K, w + t % K) * KK(m, 0, 0, t);
    sum = cg::reduce(tile, sum, cg::plus<float>());
    if (tile.thread_rank() == 0)
        y[i] = sum;
}

/* expect (long): right */
SUBMISSION_LAUNCH(right_cooperative_groups,
                  groups_each<<<(y_floats(s) + 15) / 16, 128>>>(*s, x, k, y))

__global__ void block_each(struct conv_shape shape, const float *x, const float *k, float *y)
{
    SIZES;
    typedef cub::BlockReduce<float, 64> reduce;
    __shared__ typename reduce::TempStorage room;
    const size_t i = blockIdx.x;
    UNFLAT;
    float sum = 0;
    for (int t = threadIdx.x; t < C * K * K; t += 64)
        sum += X(b, t / (K * K), h + t / K % K, w + t % K) * KK(m, 0, 0, t);
    sum = reduce(room).Sum(sum);
    if (threadIdx.x == 0)
        y[i] = sum;
}

/* expect (long): right */
SUBMISSION_LAUNCH(right_cub, block_each<<<y_floats(s), 64>>>(*s, x, k, y))
