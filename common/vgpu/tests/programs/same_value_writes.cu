// Threads of several warps write the same value to a word of shared memory, by one instruction and
// by two: this race has no effect, and must not be reported.
#include "vgpu/tests/check.cuh"

enum { THREADS = 96, TILE = 32 };

__global__ void sum_rows(const int *x, int *out)
{
    __shared__ int tile[TILE], found;
    const int t = threadIdx.x;
    found = 0;
    tile[t % TILE] = x[t % TILE];
    __syncthreads();
    if (t % 2)
        found = 7;
    else if (t % 3 == 0)
        found = 7;
    __syncthreads();
    out[t] = tile[t % TILE] * (t / TILE + 1) + found;
}

int main()
{
    std::vector<int> x(TILE);
    for (int i = 0; i < TILE; i++)
        x[i] = i * i + 1;
    Device<int> in(x), out(THREADS);
    sum_rows<<<1, THREADS>>>(in, out);
    LAUNCHED();
    const std::vector<int> got = out.host();
    bool ok = true;
    for (int t = 0; t < THREADS; t++)
        ok &= got[t] == x[t % TILE] * (t / TILE + 1) + 7;
    return verdict("same_value_writes", ok, got);
}
