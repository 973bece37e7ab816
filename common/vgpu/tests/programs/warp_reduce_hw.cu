// The warp reductions in hardware since compute capability 8.0.

// nvcc: -arch=compute_80
#include "vgpu/tests/check.cuh"

__global__ void work(const unsigned *in, unsigned *out)
{
    unsigned v = in[threadIdx.x], all = 0xffffffffu;
    out[threadIdx.x] = __reduce_add_sync(all, v);
    out[32 + threadIdx.x] = __reduce_min_sync(all, v);
    out[64 + threadIdx.x] = (unsigned)__reduce_max_sync(all, (int)v);
    out[96 + threadIdx.x] = __reduce_xor_sync(all, v) ^ __reduce_or_sync(all, v & 0xff);
    if (threadIdx.x < 16)
        out[128 + threadIdx.x] = __reduce_and_sync(0xffffu, v | 0xff00ff00u);
}

int main()
{
    Random random(38);
    std::vector<unsigned> in(32);
    for (unsigned &v : in)
        v = random.bits();
    Device<unsigned> din(in), dout(144);
    work<<<1, 32>>>(din, dout);
    LAUNCHED();
    std::vector<unsigned> o = dout.host();
    unsigned add = 0, least = ~0u, x = 0, any = 0, both = ~0u;
    int most = INT32_MIN;
    for (int i = 0; i < 32; i++) {
        add += in[i], x ^= in[i], any |= in[i] & 0xff;
        least = in[i] < least ? in[i] : least;
        most = (int)in[i] > most ? (int)in[i] : most;
        both &= i < 16 ? in[i] | 0xff00ff00u : ~0u;
    }
    bool ok = true;
    for (int i = 0; i < 32; i++)
        ok &= o[i] == add && o[32 + i] == least && o[64 + i] == (unsigned)most &&
              o[96 + i] == (x ^ any);
    for (int i = 0; i < 16; i++)
        ok &= o[128 + i] == both;
    return verdict("warp_reduce_hw", ok, o);
}
