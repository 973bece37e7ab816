// nvcc: -std=c++17 -arch=compute_90
// needs CUDA 12.6: cuda::ptx
// Bulk copies through the libraries of CUDA: cuda::memcpy_async() on a barrier, cuda::ptx, and the
// two halves of a cluster's barrier of cooperative groups.
#include "vgpu/tests/check.cuh"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;

const int N = 512;

// Adds one to each element, tile by tile.
__global__ void add_one(int *data, int tiles)
{
    __shared__ alignas(16) int tile[N];
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    for (int i = blockIdx.x; i < tiles; i += gridDim.x) {
        if (threadIdx.x == 0)
            cuda::memcpy_async(tile, data + i * N, cuda::aligned_size_t<16>(sizeof tile), bar);
        bar.wait(bar.arrive());
        for (int k = threadIdx.x; k < N; k += blockDim.x)
            tile[k]++;
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, data + i * N, tile,
                               sizeof tile);
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        }
        __syncthreads();
    }
}

// Every thread copies its own part and announces the bytes with barrier_arrive_tx().
__global__ void by_all(const int *in, int *out)
{
    __shared__ alignas(16) int tile[4 * 64];
    __shared__ barrier bar;
    const int t = threadIdx.x;
    if (t == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    cuda::device::memcpy_async_tx(tile + 4 * t, in + 4 * t, cuda::aligned_size_t<16>(16), bar);
    auto token = cuda::device::barrier_arrive_tx(bar, 1, 16);
    bar.wait(std::move(token));
    for (int k = 0; k < 4; k++)
        out[4 * t + k] = tile[255 - 4 * t - k];
}

// Arrives at a barrier, does other work, and waits; then gets all blocks' sums through a remote
// barrier object.
__global__ void __cluster_dims__(4, 1, 1) halves(const int *in, int *out)
{
    __shared__ int sums[4];
    __shared__ uint64_t done;
    auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), t = threadIdx.x;
    if (t == 0) {
        ptx::mbarrier_init(&done, 4);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    auto token = cluster.barrier_arrive();
    // independent of the other blocks
    const int v = __reduce_add_sync(~0u, in[blockIdx.x * 32 + t]);
    cluster.barrier_wait(std::move(token));
    if (t < 4) {
        cluster.map_shared_rank(sums, t)[rank] = v;
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                             cluster.map_shared_rank(&done, t));
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &done, 0))
        ;
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum = sum * 3 + sums[i];
    if (t == 0)
        out[blockIdx.x] = sum * 10 + (int)cluster.dim_threads().x / 32;
    cluster.sync();
}

int main()
{
    const int tiles = 11;
    std::vector<int> in(tiles * N), all;
    for (size_t i = 0; i < in.size(); i++)
        in[i] = (int)(i * 7 % 1000);
    Device<int> d(in), out(256), sums(8);
    bool ok = true;
    add_one<<<4, 128>>>(d, tiles);
    LAUNCHED();
    std::vector<int> got = d.host();
    for (size_t i = 0; i < in.size(); i++)
        ok &= got[i] == in[i] + 1;
    all = got;
    by_all<<<1, 64>>>(d, out);
    LAUNCHED();
    got = out.host();
    for (int i = 0; i < 256; i++)
        ok &= got[i] == in[255 - i] + 1;
    halves<<<8, 32>>>(d, sums);
    LAUNCHED();
    got = sums.host();
    for (int b = 0; b < 8; b++) {
        int sum = 0;
        for (int r = 0; r < 4; r++) {
            int part = 0;
            for (int i = 0; i < 32; i++)
                part += in[(b / 4 * 4 + r) * 32 + i] + 1;
            sum = sum * 3 + part;
        }
        ok &= got[b] == sum * 10 + 4;
    }
    all.insert(all.end(), got.begin(), got.end());
    return verdict("barrier_transactions", ok, all);
}
