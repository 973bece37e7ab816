// Plain additions to global memory that do not race: by one block, in launches one after the other,
// and under a lock.
#include "vgpu/tests/check.cuh"

__global__ void own(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 4; k++)
        if (i < n)
            out[i] += in[(i + k) % n];
}

__global__ void locked(int *lock, int *sum)
{
    if (threadIdx.x)
        return;
    while (atomicCAS(lock, 0, 1))
        ;
    __threadfence();
    *sum += blockIdx.x + 1;
    __threadfence();
    atomicExch(lock, 0);
}

int main()
{
    const int n = 200;
    std::vector<int> in(n);
    for (int i = 0; i < n; i++)
        in[i] = i;
    Device<int> din(in), dout(std::vector<int>(n, 0)), lock(std::vector<int>(2, 0));
    own<<<4, 64>>>(din, dout, n);
    own<<<8, 32>>>(din, dout, n);
    locked<<<5, 32>>>(lock, (int *)lock + 1);
    LAUNCHED();
    std::vector<int> out = dout.host(), both = lock.host();
    bool ok = both[1] == 15;
    for (int i = 0; i < n; i++) {
        int want = 0;
        for (int k = 0; k < 4; k++)
            want += 2 * in[(i + k) % n];
        ok &= out[i] == want;
    }
    return verdict("additions", ok, out);
}
