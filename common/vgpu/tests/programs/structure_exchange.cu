// A warp exchanges structures as integers of 64 bits; their padding was never written, which is not a finding.
#include "vgpu/tests/check.cuh"

struct Item {
    float value; // 4 bytes of padding follow
    long long index;
};

__global__ void exchange(Item *items, unsigned long long *to)
{
    __shared__ Item made[16];
    if (threadIdx.x < 16) {
        made[threadIdx.x].value = items[threadIdx.x].value = threadIdx.x * 0.5f;
        made[threadIdx.x].index = items[threadIdx.x].index = threadIdx.x;
    }
    __syncthreads();
    to[threadIdx.x] = __shfl_xor_sync(~0u, ((const unsigned long long *)items)[threadIdx.x], 2);
    to[threadIdx.x + 32] = __shfl_xor_sync(~0u, ((const unsigned long long *)made)[threadIdx.x], 2);
}

int main()
{
    Device<Item> items(16), exchanged(32);
    exchange<<<1, 32>>>(items, (unsigned long long *)exchanged.p);
    LAUNCHED();
    const std::vector<Item> others = exchanged.host();
    bool ok = true;
    for (int i = 0; i < 32; i++)
        ok &= others[i].value == (i % 16 ^ 1) * 0.5f && others[i].index == (i % 16 ^ 1);
    return verdict("structure_exchange", ok);
}
