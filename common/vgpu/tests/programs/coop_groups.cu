// nvcc: -std=c++17
// Cooperative groups: tiles, shuffles and votes in them, coalesced groups, reduce.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "vgpu/tests/check.cuh"

namespace cg = cooperative_groups;

__global__ void work(const int *in, int *tile_sums, int *odd_ranks, int *odd_count)
{
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int i = blockIdx.x * blockDim.x + block.thread_rank(), v = in[i];
    int sum = cg::reduce(tile, v, cg::plus<int>());
    if (tile.thread_rank() == 0)
        tile_sums[i / 8] = sum;
    odd_ranks[i] = -1;
    if (v & 1) {
        auto odd = cg::coalesced_threads();
        odd_ranks[i] = odd.thread_rank();
        if (odd.thread_rank() == 0)
            atomicAdd(odd_count, (int)odd.size());
    }
    block.sync();
}

int main()
{
    const int n = 256;
    Random random(13);
    std::vector<int> in(n);
    for (int &v : in)
        v = random.below(1000);
    Device<int> din(in), sums(n / 8), ranks(n), count(1);
    count.zero();
    work<<<n / 64, 64>>>(din, sums, ranks, count);
    LAUNCHED();
    std::vector<int> s = sums.host(), r = ranks.host();
    bool ok = true;
    int odd = 0;
    for (int i = 0; i < n; i += 8) {
        int want = 0;
        for (int j = i; j < i + 8; j++)
            want += in[j];
        ok &= s[i / 8] == want;
    }
    for (int i = 0, rank = 0; i < n; i++) {
        rank = i % 32 ? rank : 0;
        ok &= r[i] == (in[i] & 1 ? rank : -1);
        rank += in[i] & 1;
        odd += in[i] & 1;
    }
    return verdict("coop_groups", ok && count.host()[0] == odd, s);
}
