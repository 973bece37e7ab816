// nvcc: -arch=compute_90
// Minimum, maximum and sum of pairs of 16-bit numbers, which are single instructions from sm_90 on.
#include "vgpu/tests/check.cuh"

__global__ void pairs(const unsigned *a, const unsigned *b, unsigned *to, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    to[5 * i] = __vmins2(a[i], b[i]);
    to[5 * i + 1] = __vminu2(a[i], b[i]);
    to[5 * i + 2] = __vmaxs2(a[i], b[i]);
    to[5 * i + 3] = __vmaxu2(a[i], b[i]);
    to[5 * i + 4] = __vadd2(a[i], b[i]);
}

template <class T> static unsigned both(unsigned a, unsigned b, T (*of)(T, T))
{
    const uint16_t low = (uint16_t)of((T)a, (T)b), high = (uint16_t)of((T)(a >> 16), (T)(b >> 16));
    return low | (unsigned)high << 16;
}

template <class T> static T least(T a, T b)
{
    return a < b ? a : b;
}

template <class T> static T greatest(T a, T b)
{
    return a > b ? a : b;
}

static uint16_t sum(uint16_t a, uint16_t b)
{
    return (uint16_t)(a + b);
}

int main()
{
    const unsigned edges[] = {0, 1, 0x7fff, 0x8000, 0xffff};
    std::vector<unsigned> a, b;
    Random random(7);
    for (unsigned x : edges)
        for (unsigned y : edges) {
            a.push_back(x << 16 | y);
            b.push_back(y << 16 | x);
        }
    while (a.size() < 1000) {
        a.push_back(random.bits());
        b.push_back(random.bits());
    }
    const int n = (int)a.size();
    Device<unsigned> da(a), db(b), to(5 * a.size());
    pairs<<<(n + 127) / 128, 128>>>(da, db, to, n);
    LAUNCHED();
    const std::vector<unsigned> got = to.host();
    bool ok = true;
    for (int i = 0; i < n; i++) {
        const unsigned *g = &got[5 * i];
        ok &=
            g[0] == both<int16_t>(a[i], b[i], least) && g[1] == both<uint16_t>(a[i], b[i], least) &&
            g[2] == both<int16_t>(a[i], b[i], greatest) &&
            g[3] == both<uint16_t>(a[i], b[i], greatest) && g[4] == both<uint16_t>(a[i], b[i], sum);
    }
    return verdict("halfword_pairs", ok, got);
}
