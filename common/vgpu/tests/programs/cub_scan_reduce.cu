// nvcc: -std=c++17
// CUB's block-wide scan and reduction, and a warp-wide one.
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>

#include "vgpu/tests/check.cuh"

const int THREADS = 128;

__global__ void work(const int *in, int *scan, int *block, int *warp)
{
    using Scan = cub::BlockScan<int, THREADS>;
    using Reduce = cub::BlockReduce<int, THREADS>;
    using Warp = cub::WarpReduce<int>;
    __shared__ typename Scan::TempStorage s;
    __shared__ typename Reduce::TempStorage r;
    __shared__ typename Warp::TempStorage w[THREADS / 32];
    int v = in[threadIdx.x], before;
    Scan(s).ExclusiveSum(v, before);
    scan[threadIdx.x] = before;
    int sum = Reduce(r).Sum(v);
    if (threadIdx.x == 0)
        *block = sum;
    int most = Warp(w[threadIdx.x / 32]).Reduce(v, [](int a, int b) { return a > b ? a : b; });
    if (threadIdx.x % 32 == 0)
        warp[threadIdx.x / 32] = most;
}

int main()
{
    Random random(12);
    std::vector<int> in(THREADS);
    for (int &v : in)
        v = random.below(1000);
    Device<int> din(in), scan(THREADS), block(1), warp(THREADS / 32);
    work<<<1, THREADS>>>(din, scan, block, warp);
    LAUNCHED();
    std::vector<int> s = scan.host(), w = warp.host();
    bool ok = true;
    int sum = 0;
    for (int i = 0; i < THREADS; i++) {
        ok &= s[i] == sum;
        sum += in[i];
    }
    for (int i = 0; i < THREADS; i += 32) {
        int most = 0;
        for (int j = i; j < i + 32; j++)
            most = in[j] > most ? in[j] : most;
        ok &= w[i / 32] == most;
    }
    return verdict("cub_scan_reduce", ok && block.host()[0] == sum, s);
}
