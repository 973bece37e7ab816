// A sum by halving in shared memory, one partial sum per block.
#include "vgpu/tests/check.cuh"

__global__ void reduce(const int *in, long long *out, int n)
{
    __shared__ long long part[256];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    part[t] = (i < n ? in[i] : 0) + (long long)(i + 256 < n ? in[i + 256] : 0);
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

int main()
{
    const int n = 12345, blocks = (n + 511) / 512;
    Random random(3);
    std::vector<int> in(n);
    long long want = 0;
    for (int &v : in)
        v = (int)random.bits(), want += v;
    Device<int> din(in);
    Device<long long> dout(blocks);
    reduce<<<blocks, 256>>>(din, dout, n);
    LAUNCHED();
    std::vector<long long> out = dout.host();
    long long got = 0;
    for (long long v : out)
        got += v;
    return verdict("reduce_shared", got == want, out);
}
