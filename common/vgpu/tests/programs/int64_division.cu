// Division and remainder of 32 and 64 bits, signed and unsigned, by variables and by constants.
#include "vgpu/tests/check.cuh"

const int OPS = 10;

__global__ void work(const long long *in, long long *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long a = in[i], b = in[(i + 1) % n];
    unsigned long long ua = (unsigned long long)a, ub = (unsigned long long)b;
    long long *o = out + (long long)i * OPS;
    o[0] = a / b, o[1] = a % b, o[2] = (long long)(ua / ub), o[3] = (long long)(ua % ub);
    o[4] = a / 7, o[5] = (long long)(ua % 1000003u), o[6] = (int)a / ((int)b | 1);
    o[7] = (unsigned)ua % ((unsigned)ub | 1u), o[8] = __mul64hi(a, b),
    o[9] = (long long)__umul64hi(ua, ub);
}

int main()
{
    Random random(21);
    std::vector<long long> in = {
        1, -1, 7, -7, INT64_MAX, 3, -1000000007LL, INT32_MIN + 1LL, 0x100000000LL};
    for (int i = 0; i < 200; i++) {
        long long v = (long long)((uint64_t)random.bits() << 32 | random.bits());
        v >>= random.below(60);
        in.push_back(v ? v : 5);
    }
    int n = (int)in.size();
    Device<long long> din(in), dout((size_t)n * OPS);
    work<<<2, 128>>>(din, dout, n);
    LAUNCHED();
    std::vector<long long> out = dout.host();
    bool ok = true;
    for (int i = 0; i < n; i++) {
        long long a = in[i], b = in[(i + 1) % n];
        unsigned long long ua = a, ub = b;
        const long long *o = &out[(size_t)i * OPS];
        ok &= o[0] == a / b && o[1] == a % b && o[2] == (long long)(ua / ub);
        ok &= o[3] == (long long)(ua % ub) && o[4] == a / 7 && o[5] == (long long)(ua % 1000003u);
        ok &= o[6] == (int)a / ((int)b | 1) && o[7] == (unsigned)ua % ((unsigned)ub | 1u);
        ok &= o[8] == (long long)(((__int128)a * b) >> 64);
        ok &= o[9] == (long long)(((unsigned __int128)ua * ub) >> 64);
    }
    return verdict("int64_division", ok, out);
}
