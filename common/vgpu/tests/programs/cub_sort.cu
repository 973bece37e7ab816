// nvcc: -std=c++17
// CUB's block-wide radix sort of keys with values.
#include <cub/block/block_radix_sort.cuh>

#include "vgpu/tests/check.cuh"

#include <algorithm>

const int THREADS = 64, ITEMS = 4, N = THREADS * ITEMS;

__global__ void sort(unsigned *keys, int *values)
{
    using Sort = cub::BlockRadixSort<unsigned, THREADS, ITEMS, int>;
    __shared__ typename Sort::TempStorage storage;
    unsigned k[ITEMS];
    int v[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        k[i] = keys[blockIdx.x * N + threadIdx.x * ITEMS + i];
        v[i] = values[blockIdx.x * N + threadIdx.x * ITEMS + i];
    }
    Sort(storage).Sort(k, v);
    for (int i = 0; i < ITEMS; i++) {
        keys[blockIdx.x * N + threadIdx.x * ITEMS + i] = k[i];
        values[blockIdx.x * N + threadIdx.x * ITEMS + i] = v[i];
    }
}

int main()
{
    const int blocks = 2;
    Random random(11);
    std::vector<unsigned> keys(N * blocks);
    std::vector<int> values(N * blocks);
    for (int i = 0; i < N * blocks; i++)
        keys[i] = random.bits(), values[i] = i;
    Device<unsigned> dk(keys);
    Device<int> dv(values);
    sort<<<blocks, THREADS>>>(dk, dv);
    LAUNCHED();
    std::vector<unsigned> got = dk.host();
    std::vector<int> where = dv.host();
    bool ok = true;
    for (int b = 0; b < blocks; b++) {
        std::vector<unsigned> want(keys.begin() + b * N, keys.begin() + (b + 1) * N);
        std::sort(want.begin(), want.end());
        for (int i = 0; i < N; i++)
            ok &= got[b * N + i] == want[i] && keys[where[b * N + i]] == got[b * N + i];
    }
    return verdict("cub_sort", ok, got);
}
