// Directed rounding, denormals, infinities, conversions to integers with saturation.
#include "vgpu/tests/check.cuh"

#include <cfenv>
#include <cmath>

const int OPS = 12;

__global__ void work(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float a = in[i], b = in[(i + 3) % n];
    float *o = out + i * OPS;
    o[0] = __fadd_rn(a, b), o[1] = __fadd_rz(a, b), o[2] = __fadd_ru(a, b), o[3] = __fadd_rd(a, b);
    o[4] = __fmul_ru(a, b), o[5] = __fdiv_rd(a, b), o[6] = __fsqrt_ru(fabsf(a));
    o[7] = __fmaf_rz(a, b, a), o[8] = (float)__float2int_rn(a), o[9] = (float)__float2uint_ru(a);
    o[10] = __uint_as_float(__float_as_uint(a) & 0x807fffff), o[11] = truncf(a) + ceilf(b);
}

int main()
{
    std::vector<float> in = {1.0f,  0.1f,     -3.5f, 2.5f, 1e-39f, 1e-45f,
                             3e38f, INFINITY, -0.0f, 7e9f, -2.5f,  1.0f / 3};
    Random random(20);
    for (int i = 0; i < 100; i++)
        in.push_back((random.unit() - 0.5f) * 100);
    int n = (int)in.size();
    Device<float> din(in), dout((size_t)n * OPS);
    work<<<1, 128>>>(din, dout, n);
    LAUNCHED();
    std::vector<float> out = dout.host();
    bool ok = true;
    auto same = [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    for (int i = 0; i < n; i++) {
        volatile float a = in[i], b = in[(i + 3) % n], r;
        const float *o = &out[(size_t)i * OPS];
        ok &= same(o[0], a + b);
        fesetround(FE_TOWARDZERO), r = a + b, fesetround(FE_TONEAREST), ok &= same(o[1], r);
        fesetround(FE_UPWARD), r = a + b, fesetround(FE_TONEAREST), ok &= same(o[2], r);
        fesetround(FE_DOWNWARD), r = a + b, fesetround(FE_TONEAREST), ok &= same(o[3], r);
        fesetround(FE_UPWARD), r = a * b, fesetround(FE_TONEAREST), ok &= same(o[4], r);
        fesetround(FE_DOWNWARD), r = a / b, fesetround(FE_TONEAREST), ok &= same(o[5], r);
        ok &= same(o[11], truncf(a) + ceilf(b));
        double clamped = a >= 2147483648.0 ? 2147483647.0 : a <= -2147483648.0 ? -2147483648.0 : a;
        ok &= o[8] == (float)(int)nearbyint(clamped);
    }
    for (float &v : out) // the bits of a NaN are undefined
        v = std::isnan(v) ? 0 : v;
    return verdict("float_rounding", ok, out);
}
