// Double-precision functions of the math library, to a few units in the last place.
#include "vgpu/tests/check.cuh"

const int OPS = 10;

__global__ void work(const double *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double a = in[i];
    double *o = out + i * OPS;
    o[0] = exp(a), o[1] = log(a), o[2] = sin(a), o[3] = cos(a), o[4] = pow(a, 1.7);
    o[5] = atan(a), o[6] = tanh(a), o[7] = cbrt(a), o[8] = erf(a), o[9] = 1 / sqrt(a);
}

int main()
{
    const int n = 200;
    Random random(18);
    std::vector<double> in(n);
    for (double &v : in)
        v = 0.01 + random.unit() * 10;
    Device<double> din(in), dout((size_t)n * OPS);
    work<<<2, 128>>>(din, dout, n);
    LAUNCHED();
    std::vector<double> out = dout.host();
    bool ok = true;
    for (int i = 0; i < n; i++) {
        double a = in[i];
        double want[OPS] = {exp(a),  log(a),  sin(a),  cos(a), pow(a, 1.7),
                            atan(a), tanh(a), cbrt(a), erf(a), 1 / sqrt(a)};
        for (int k = 0; k < OPS; k++)
            ok &= fabs(out[(size_t)i * OPS + k] - want[k]) <= 1e-14 * (fabs(want[k]) + 1e-2);
    }
    return verdict("double_math", ok);
}
