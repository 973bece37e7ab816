// nvcc: -std=c++17
// One lane of each warp waits for another block, while the others have passed the place where they meet. Then the warp
// works together again: in a function that is not inlined, at a barrier, and on matrices.
#include <mma.h>

#include "vgpu/tests/check.cuh"

using namespace nvcuda;

enum { BLOCKS = 4, WARPS = 2, LANES = 32 };

__device__ unsigned arrived;

__device__ void wait_for_blocks(unsigned round)
{
    if (threadIdx.x % LANES == 0) {
        atomicAdd(&arrived, 1);
        while (atomicAdd(&arrived, 0) < round * BLOCKS * WARPS)
            ;
    }
}

__device__ __noinline__ int sum_of_warp(int value)
{
    for (int by = LANES / 2; by; by /= 2)
        value += __shfl_xor_sync(~0u, value, by);
    return value;
}

__device__ __noinline__ int sum_of_rest(int value, int depth)
{
    return depth ? sum_of_rest(value + 1, depth - 1) + 1 : sum_of_warp(value);
}

__global__ void sums(int *sum)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    wait_for_blocks(1);
    sum[i] = sum_of_warp(i);
    wait_for_blocks(2);
    sum[i] += sum_of_rest(i, 3);
}

template <bool BARRIER> __global__ void products(const half *a, float *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wait_for_blocks(1);
    if (BARRIER)
        __syncthreads();
    else
        __syncwarp();
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, a, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c + (blockIdx.x * WARPS + threadIdx.x / LANES) * 256, sum, 16,
                            wmma::mem_row_major);
}

static void begin()
{
    const unsigned zero = 0;
    CHECK(cudaMemcpyToSymbol(arrived, &zero, sizeof zero));
}

int main()
{
    Device<int> sum(BLOCKS * WARPS * LANES);
    begin();
    sums<<<BLOCKS, WARPS * LANES>>>(sum);
    LAUNCHED();
    const std::vector<int> sums_got = sum.host();
    bool ok = true;
    for (int i = 0; i < BLOCKS * WARPS * LANES; i++) {
        const int first = i / LANES * LANES, all = LANES * first + LANES * (LANES - 1) / 2;
        ok &= sums_got[i] == 2 * all + 3 * LANES + 3;
    }
    Random random(7);
    std::vector<half> a(256);
    for (half &v : a)
        v = __float2half(random.exact());
    Device<half> da(a);
    Device<float> c(BLOCKS * WARPS * 256);
    for (const bool barrier : {false, true}) {
        begin();
        (barrier ? products<true> : products<false>)<<<BLOCKS, WARPS * LANES>>>(da, c);
        LAUNCHED();
        const std::vector<float> got = c.host();
        for (size_t i = 0; i < got.size(); i++) {
            float want = 0;
            for (int k = 0; k < 16; k++)
                want += __half2float(a[i % 256 / 16 * 16 + k]) * __half2float(a[i % 16 * 16 + k]);
            ok &= got[i] == want;
        }
    }
    return verdict("waiting_lanes", ok, sums_got);
}
