// nvcc: -std=c++17 -arch=compute_80
// Structures with padding move through asynchronous copies and shuffles, and a sum ignores shuffled values of lanes that
// do not take part: what nothing wrote is not used. This is not a finding.
#include <cuda_pipeline.h>

#include "vgpu/tests/check.cuh"

#ifndef NAME
#define NAME "padding_moved"
#endif

const int N = 96, BLOCK = 32;

struct __align__(16) Item
{
    float value; // 4 bytes of padding follow
    long long index;
};

__global__ void make(Item *items)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    items[i].value = i * 0.5f;
    items[i].index = N - i;
}

__device__ Item item_of_lane(Item item, int lane)
{
    int words[sizeof(Item) / 4];
    memcpy(words, &item, sizeof item);
    for (int &word : words)
        word = __shfl_sync(~0u, word, lane);
    memcpy(&item, words, sizeof item);
    return item;
}

__global__ void reverse(const Item *from, Item *to)
{
    __shared__ Item tile[BLOCK];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    __pipeline_memcpy_async(tile + threadIdx.x, from + i, sizeof(Item));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    to[i] = item_of_lane(tile[BLOCK - 1 - threadIdx.x], threadIdx.x ^ 1);
}

__global__ void sums(const Item *items, float *sum)
{
    const int lane = threadIdx.x, lanes = 20;
    if (lane >= lanes)
        return;
    float value = items[lane].value;
    for (int by = 16; by > 0; by /= 2) {
        const float other = __shfl_down_sync((1u << lanes) - 1, value, by);
        if (lane + by < lanes)
            value += other;
    }
    if (lane == 0)
        *sum = value + items[BLOCK].index;
}

// The same sum beside a shuffle whose result is stored as it is.
__global__ void sum_beside(int *sum)
{
    const int lane = threadIdx.x, lanes = 20;
    if (lane < lanes) {
        int value = lane;
        for (int by = 16; by > 0; by /= 2) {
            const int other = __shfl_down_sync((1u << lanes) - 1, value, by);
            if (lane + by < lanes)
                value += other;
        }
        if (lane == 0)
            *sum = value;
    } else {
        sum[lane] = __shfl_sync(~0u << lanes, lane, 25);
    }
}

int main()
{
    Device<Item> a(N), b(N);
    Device<float> sum(1);
    Device<int> beside(BLOCK);
    make<<<N / BLOCK, BLOCK>>>(a);
    reverse<<<N / BLOCK, BLOCK>>>(a, b);
    sums<<<1, BLOCK>>>(b, sum);
    sum_beside<<<1, BLOCK>>>(beside);
    LAUNCHED();
    int first;
    CHECK(cudaMemcpy(&first, beside, sizeof first, cudaMemcpyDeviceToHost));
    EXPECT(first == 19 * 20 / 2);
    float want = 0;
    for (int i = 0; i < 20; i++)
        want += (BLOCK - 1 - (i ^ 1)) * 0.5f;
    want += N - (2 * BLOCK - 1 - 1);
    const std::vector<float> got = sum.host();
    return verdict(NAME, got[0] == want, got);
}
