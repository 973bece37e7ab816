// Each warp has its own counters: its lanes clear them with plain writes, synchronise with
// __syncwarp, and add to them with atomics, including the lane that cleared the counter.
#include "vgpu/tests/check.cuh"

const int WARPS = 4, BINS = 16;

__global__ void count(const int *keys, int n, int *out)
{
    __shared__ int counters[WARPS][BINS];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = lane; i < BINS; i += 32)
        counters[warp][i] = 0;
    __syncwarp();
    for (int i = lane + 32 * warp; i < n; i += 32 * WARPS) {
        atomicAdd(&counters[warp][lane % BINS], 1);
        atomicAdd(&counters[warp][keys[i]], 1000);
    }
    __syncwarp();
    if (lane < BINS)
        atomicAdd(&out[lane], counters[warp][lane]);
}

int main()
{
    const int n = 10 * 32 * WARPS;
    Random r(3);
    std::vector<int> keys(n), want(BINS, n / BINS);
    for (int &k : keys)
        want[(size_t)(k = r.below(BINS))] += 1000;
    Device<int> in(keys), out(BINS);
    out.zero();
    count<<<1, 32 * WARPS>>>(in, n, out);
    LAUNCHED();
    return verdict("warp_counters", out.host() == want, want);
}
