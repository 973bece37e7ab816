// Bits: counting, reversing, extracting, permuting bytes, funnel shifts, saturating and packed
// sums.
#include "vgpu/tests/check.cuh"

const int OPS = 14;

__global__ void work(const unsigned *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned a = in[i], b = in[(i + 1) % n];
    unsigned long long w = (unsigned long long)a << 32 | b;
    unsigned *o = out + i * OPS;
    o[0] = __popc(a), o[1] = __clz(a), o[2] = __ffs(a), o[3] = __brev(a);
    o[4] = __byte_perm(a, b, 0x5142), o[5] = __funnelshift_l(a, b, b & 31);
    o[6] = __funnelshift_r(a, b, 37), o[7] = __popcll(w), o[8] = __clzll(w | 1);
    o[9] = (unsigned)__dp4a((int)a, (int)b, 100), o[10] = __sad((int)a, (int)b, 5u);
    o[11] = a >> (b & 31) | (a << 3), o[12] = (unsigned)(__brevll(w) >> 32);
    o[13] = (unsigned)((int)a >> (b & 15)) ^ __umulhi(a, b);
}

int main()
{
    Random random(31);
    std::vector<unsigned> in = {0, 1, 0x80000000u, 0xffffffffu};
    for (int i = 0; i < 200; i++)
        in.push_back(random.bits() >> random.below(20));
    int n = (int)in.size();
    Device<unsigned> din(in), dout((size_t)n * OPS);
    work<<<2, 128>>>(din, dout, n);
    LAUNCHED();
    std::vector<unsigned> out = dout.host();
    bool ok = true;
    for (int i = 0; i < n; i++) {
        unsigned a = in[i], b = in[(i + 1) % n], reversed = 0, perm = 0;
        uint64_t w = (uint64_t)a << 32 | b, ba = (uint64_t)b << 32 | a;
        const unsigned *o = &out[(size_t)i * OPS];
        for (int k = 0; k < 32; k++)
            reversed |= (a >> k & 1) << (31 - k);
        for (int k = 0; k < 4; k++)
            perm |= (unsigned)(ba >> (8 * (0x5142 >> (4 * k) & 7)) & 255) << (8 * k);
        int dot = 100;
        for (int k = 0; k < 4; k++)
            dot += (signed char)(a >> (8 * k)) * (signed char)(b >> (8 * k));
        ok &= o[0] == (unsigned)__builtin_popcount(a) &&
              o[1] == (a ? (unsigned)__builtin_clz(a) : 32);
        ok &= o[2] == (unsigned)__builtin_ffs((int)a) && o[3] == reversed && o[4] == perm;
        ok &= o[5] == (unsigned)(ba << (b & 31) >> 32) && o[6] == (unsigned)(ba >> 5);
        ok &= o[7] == (unsigned)__builtin_popcountll(w) && o[8] == (unsigned)__builtin_clzll(w | 1);
        ok &= o[9] == (unsigned)dot;
        long long diff = (long long)(int)a - (int)b;
        ok &= o[10] == (unsigned)(diff < 0 ? -diff : diff) + 5u;
        ok &= o[11] == (a >> (b & 31) | a << 3);
        ok &= o[13] == ((unsigned)((int)a >> (b & 15)) ^ (unsigned)((uint64_t)a * b >> 32));
    }
    return verdict("bit_tricks", ok, out);
}
