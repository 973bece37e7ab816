// Single-precision functions, accurate ones and fast approximations; each has its own error bound.
#include "vgpu/tests/check.cuh"

const int OPS = 14;

__global__ void work(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float a = in[i];
    float *o = out + i * OPS;
    o[0] = expf(a), o[1] = logf(a), o[2] = sinf(a), o[3] = cosf(a), o[4] = powf(a, 1.7f);
    o[5] = tanhf(a), o[6] = rsqrtf(a), o[7] = __expf(a), o[8] = __logf(a), o[9] = __sinf(a * 0.3f);
    o[10] = __fdividef(1.0f, a), o[11] = exp2f(a), o[12] = log2f(a), o[13] = erff(a);
}

int main()
{
    const int n = 300;
    Random random(19);
    std::vector<float> in(n);
    for (float &v : in)
        v = 0.05f + random.unit() * 10;
    Device<float> din(in), dout((size_t)n * OPS);
    work<<<3, 128>>>(din, dout, n);
    LAUNCHED();
    std::vector<float> out = dout.host();
    bool ok = true;
    for (int i = 0; i < n; i++) {
        double a = in[i];
        double want[OPS] = {exp(a),  log(a),      sin(a),  cos(a), pow(a, 1.7f),
                            tanh(a), 1 / sqrt(a), exp(a),  log(a), sin(a * 0.3f),
                            1 / a,   exp2(a),     log2(a), erf(a)};
        for (int k = 0; k < OPS; k++) {
            double bound = k >= 7 && k <= 10 ? 4e-6 : 6e-7;
            ok &= fabs(out[(size_t)i * OPS + k] - want[k]) <= bound * (fabs(want[k]) + 0.3);
        }
    }
    return verdict("float_math", ok);
}
