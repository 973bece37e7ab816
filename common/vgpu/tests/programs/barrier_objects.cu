// nvcc: -std=c++17 -arch=compute_80
// cuda::barrier (mbarrier instructions), a pipeline of asynchronous copies, cooperative groups'
// memcpy_async, and cuda::atomic_ref.
#include "vgpu/tests/check.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;
#pragma nv_diag_suppress static_var_with_dynamic_init

// Two warps write and two read, alternately: one barrier object for "full" and one for "empty".
__global__ void hand_over(int rounds, int *out)
{
    __shared__ int slot[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> full, empty;
    int t = threadIdx.x;
    if (t == 0) {
        init(&full, blockDim.x);
        init(&empty, blockDim.x);
    }
    __syncthreads();
    int sum = 0;
    for (int r = 0; r < rounds; r++) {
        if (t < 64)
            slot[t] = r * 100 + t;
        full.arrive_and_wait();
        if (t >= 64)
            sum += slot[127 - t];
        empty.wait(empty.arrive());
    }
    if (t >= 64)
        out[t - 64] = sum;
}

__global__ void pipelined(const int *in, int tiles, int *out)
{
    extern __shared__ int stage[];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const int n = blockDim.x;
    int sum = 0;
    for (int fetch = 0, use = 0; use < tiles; use++) {
        for (; fetch < tiles && fetch < use + 2; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stage + fetch % 2 * n, in + fetch * n,
                               cuda::aligned_size_t<16>(n * sizeof(int)), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += stage[use % 2 * n + (threadIdx.x + 1) % n] * (use + 1);
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

__global__ void groups(const int *in, int *out, int *count)
{
    __shared__ int s[64];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, in, sizeof s);
    cg::wait(block);
    auto warp = cg::tiled_partition<32>(block);
    int v = s[63 - threadIdx.x];
    out[threadIdx.x] = cg::reduce(warp, v, cg::plus<int>()) + cg::exclusive_scan(warp, v);
    cuda::atomic_ref<int, cuda::thread_scope_device> c(*count);
    c.fetch_add(v);
}

int main()
{
    const int tiles = 7, n = 64;
    std::vector<int> in(tiles * n);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = (int)(i * i % 101);
    Device<int> d(in), out(64), count(1);
    count.zero();
    bool ok = true;
    std::vector<int> all;
    auto keep = [&]() {
        LAUNCHED();
        std::vector<int> got = out.host();
        all.insert(all.end(), got.begin(), got.end());
        return got;
    };
    hand_over<<<1, 128>>>(5, out);
    std::vector<int> got = keep();
    for (int i = 0; i < 64; i++)
        ok &= got[i] == 1000 + 5 * (63 - i);
    pipelined<<<1, n, 2 * n * sizeof(int)>>>(d, tiles, out);
    got = keep();
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int t = 0; t < tiles; t++)
            sum += in[t * n + (i + 1) % n] * (t + 1);
        ok &= got[i] == sum;
    }
    groups<<<1, 64>>>(d, out, count);
    got = keep();
    int total = 0;
    for (int i = 0; i < 64; i++) {
        int sum = 0, before = 0;
        for (int k = i / 32 * 32; k < i / 32 * 32 + 32; k++)
            sum += in[63 - k], before += k < i ? in[63 - k] : 0;
        ok &= got[i] == sum + before;
        total += in[i];
    }
    ok &= count.host()[0] == total;
    return verdict("barrier_objects", ok, all);
}
