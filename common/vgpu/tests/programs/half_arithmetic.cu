// half and half2: conversions, arithmetic, comparison, fused multiply-add.
#include <cuda_fp16.h>

#include "vgpu/tests/check.cuh"

__global__ void work(const float *in, float *out, int n)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    __half a = __float2half_rn(in[i]), b = __float2half_rn(in[(i + 1) % n]);
    __half2 p = __halves2half2(a, b), q = __half2half2(b);
    out[i * 8 + 0] = __half2float(a);
    out[i * 8 + 1] = __half2float(__hadd(a, b));
    out[i * 8 + 2] = __half2float(__hmul(a, b));
    out[i * 8 + 3] = __half2float(__hfma(a, b, a));
    out[i * 8 + 4] = __low2float(__hsub2(p, q));
    out[i * 8 + 5] = __high2float(__hfma2(p, q, p));
    out[i * 8 + 6] = __hlt(a, b) ? 1 : 0;
    out[i * 8 + 7] = __half2float(__hneg(a));
}

// Rounds to 11 significant bits, to nearest even; the values here are normal halves.
static float to_half(double v)
{
    if (v == 0)
        return 0;
    int e;
    frexp(v, &e);
    double unit = ldexp(1, e - 11);
    return (float)(nearbyint(v / unit) * unit);
}

int main()
{
    const int n = 100;
    Random random(15);
    std::vector<float> in(n);
    for (float &v : in)
        v = 0.5f + random.unit() * 3;
    Device<float> din(in), dout(n * 8);
    work<<<1, 128>>>(din, dout, n);
    LAUNCHED();
    std::vector<float> o = dout.host();
    bool ok = true;
    for (int i = 0; i < n; i++) {
        double a = to_half(in[i]), b = to_half(in[(i + 1) % n]);
        const float *r = &o[i * 8];
        ok &= r[0] == (float)a && r[1] == to_half(a + b) && r[2] == to_half(a * b);
        ok &= r[3] == to_half(a * b + a) && r[4] == to_half(a - b) && r[5] == to_half(b * b + b);
        ok &= r[6] == (a < b) && r[7] == (float)-a;
    }
    return verdict("half_arithmetic", ok, o);
}
