// An inclusive scan: scans each block, scans the sums of the blocks, and adds these to the blocks.
#include "vgpu/tests/check.cuh"

const int BLOCK = 256;

__global__ void scan(const int *in, int *out, int *sums, int n)
{
    __shared__ int buffer[2][BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t, now = 0;
    buffer[0][t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < BLOCK; d <<= 1) {
        buffer[1 - now][t] = buffer[now][t] + (t >= d ? buffer[now][t - d] : 0);
        now = 1 - now;
        __syncthreads();
    }
    if (i < n)
        out[i] = buffer[now][t];
    if (sums && t == BLOCK - 1)
        sums[blockIdx.x] = buffer[now][t];
}

__global__ void add_before(int *out, const int *sums, int n)
{
    int i = (blockIdx.x + 1) * BLOCK + threadIdx.x;
    if (i < n)
        out[i] += sums[blockIdx.x];
}

int main()
{
    const int n = 50001, blocks = (n + BLOCK - 1) / BLOCK;
    Random random(5);
    std::vector<int> in(n);
    for (int &v : in)
        v = random.below(100);
    Device<int> din(in), dout(n), sums(blocks), scanned(blocks);
    scan<<<blocks, BLOCK>>>(din, dout, sums, n);
    scan<<<1, BLOCK>>>(sums, scanned, nullptr, blocks);
    add_before<<<blocks - 1, BLOCK>>>(dout, scanned, n);
    LAUNCHED();
    std::vector<int> out = dout.host();
    bool ok = true;
    for (int i = 0, sum = 0; i < n; i++)
        ok &= out[i] == (sum += in[i]);
    return verdict("scan_blocks", ok, out);
}
