// A sort by merging within 16 threads, of several groups in a block: CUB reads the element after a
// group's last key, which no thread wrote, and ignores it.
// nvcc: -std=c++17
#include "vgpu/tests/check.cuh"

#include <cub/cub.cuh>

const int THREADS = 128, KEYS = 3, GROUP = 16, N = THREADS * KEYS;

struct Less {
    __device__ bool operator()(int a, int b) const
    {
        return a < b;
    }
};

__global__ void sort_groups(const int *in, int *out)
{
    using Sort = cub::WarpMergeSort<int, KEYS, GROUP>;
    __shared__ typename Sort::TempStorage room[THREADS / GROUP];
    int keys[KEYS];
    for (int i = 0; i < KEYS; i++)
        keys[i] = in[threadIdx.x * KEYS + i];
    Sort(room[threadIdx.x / GROUP]).Sort(keys, Less());
    for (int i = 0; i < KEYS; i++)
        out[threadIdx.x * KEYS + i] = keys[i];
}

int main()
{
    std::vector<int> in(N);
    Random random(5);
    for (int &x : in)
        x = random.below(1000);
    Device<int> d_in(in), d_out(N);
    sort_groups<<<1, THREADS>>>(d_in, d_out);
    LAUNCHED();
    const std::vector<int> got = d_out.host();
    bool ok = true;
    for (int i = 0; i < N; i++)
        ok &= i % (GROUP * KEYS) == 0 || got[i - 1] <= got[i];
    return verdict("cub_warp_sort", ok, got);
}
