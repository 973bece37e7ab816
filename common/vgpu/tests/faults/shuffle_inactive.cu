// A warp sum reads values of lanes that do not take part in the shuffle: they are undefined.
#include "vgpu/tests/faults.cuh"

__global__ void sum(int *out)
{
    int v = threadIdx.x;
    if (threadIdx.x < 16) {
        v += __shfl_down_sync(0xffff, v, 8, 32); // expect: undefined_shuffle
        out[threadIdx.x] = v;
    }
}

int main()
{
    Device<int> out(32);
    sum<<<1, 32>>>(out);
    const std::vector<int> got = out.host();
    for (int i = 0; i < 16; i++)
        EXPECT(got[i] == (i < 8 ? i + i + 8 : i));
    return done(cudaSuccess);
}
