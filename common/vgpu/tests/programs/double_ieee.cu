// Double-precision operations that IEEE 754 fully defines: + - * / sqrt fma, rounding, conversions.
#include "vgpu/tests/check.cuh"

const int OPS = 14;

__global__ void work(const double *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double a = in[i], b = in[(i + 7) % n], c = in[(i + 13) % n];
    double *o = out + i * OPS;
    o[0] = __dadd_rn(a, b), o[1] = __dmul_rn(a, b), o[2] = a / b, o[3] = sqrt(fabs(a));
    o[4] = fma(a, b, c), o[5] = __dadd_rz(a, b), o[6] = __dmul_ru(a, b), o[7] = __ddiv_rd(a, b);
    o[8] = (double)(float)a, o[9] = (double)(long long)a, o[10] = fmin(a, b), o[11] = floor(a);
    o[12] = rint(a), o[13] = (double)__double2int_rz(a);
}

int main()
{
    const int n = 500;
    Random random(17);
    std::vector<double> in(n);
    for (double &v : in)
        v = (random.unit() - 0.5) * 1000 + random.unit() * 1e-9;
    Device<double> din(in), dout((size_t)n * OPS);
    work<<<4, 128>>>(din, dout, n);
    LAUNCHED();
    std::vector<double> out = dout.host();
    bool ok = true;
    for (int i = 0; i < n; i++) {
        volatile double a = in[i], b = in[(i + 7) % n], c = in[(i + 13) % n];
        const double *o = &out[(size_t)i * OPS];
        ok &= o[0] == a + b && o[1] == a * b && o[2] == a / b && o[3] == sqrt(fabs(a));
        ok &= o[4] == fma(a, b, c) && fabs(o[5]) <= fabs(a + b) + 1e-12 && o[6] >= a * b;
        ok &= o[7] <= a / b && o[8] == (double)(float)a && o[9] == (double)(long long)a;
        ok &= o[10] == fmin(a, b) && o[11] == floor(a) && o[12] == rint(a) && o[13] == (int)a;
    }
    return verdict("double_ieee", ok, out);
}
