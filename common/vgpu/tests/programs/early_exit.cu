// Threads, and whole warps, that end before the others reach a barrier.
#include "vgpu/tests/check.cuh"

__global__ void work(int *out, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t >= n)
        return; // exits: the barrier below does not wait for these threads
    s[t] = t * 3;
    __syncthreads();
    out[blockIdx.x * 128 + t] = s[n - 1 - t];
    if (t % 2 && blockIdx.x == 1)
        return;
    __syncthreads();
    if (t + 2 < n)
        out[blockIdx.x * 128 + t] += s[t + 2];
}

int main()
{
    bool ok = true;
    std::vector<int> all;
    for (int n : {1, 31, 32, 33, 64, 100, 128}) {
        Device<int> dout(256);
        dout.zero();
        work<<<2, 128>>>(dout, n);
        LAUNCHED();
        std::vector<int> out = dout.host();
        for (int b = 0; b < 2; b++)
            for (int t = 0; t < n; t++) {
                int want = (n - 1 - t) * 3;
                if (!(b == 1 && t % 2) && t + 2 < n)
                    want += (t + 2) * 3;
                ok &= out[b * 128 + t] == want;
            }
        all.insert(all.end(), out.begin(), out.end());
    }
    return verdict("early_exit", ok, all);
}
