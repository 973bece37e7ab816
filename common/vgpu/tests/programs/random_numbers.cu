// cuRAND's device functions (all in headers) and complex numbers of cuComplex.h.
#include "vgpu/tests/check.cuh"

#include <cuComplex.h>
#include <curand_kernel.h>

__global__ void generate(unsigned *out, float *uniform)
{
    const int i = threadIdx.x;
    curandState xorwow;
    curandStatePhilox4_32_10_t philox;
    curand_init(1234, i, 5, &xorwow);
    curand_init(99, i, 0, &philox);
    uint4 four = curand4(&philox);
    out[2 * i] = curand(&xorwow) ^ curand(&xorwow);
    out[2 * i + 1] = four.x + four.y + four.z + four.w;
    uniform[i] = curand_uniform(&xorwow);
}

__global__ void complex(double *out)
{
    cuDoubleComplex a = make_cuDoubleComplex(threadIdx.x, 2), b = cuCmul(a, cuConj(a));
    out[threadIdx.x] = cuCreal(b) + cuCimag(cuCadd(a, b));
}

int main()
{
    Device<unsigned> out(128);
    Device<float> uniform(64);
    Device<double> z(64);
    generate<<<1, 64>>>(out, uniform);
    complex<<<1, 64>>>(z);
    LAUNCHED();
    bool ok = true;
    std::vector<unsigned> got = out.host();
    std::vector<float> u = uniform.host();
    std::vector<double> c = z.host();
    double mean = 0;
    for (int i = 0; i < 64; i++) {
        ok &= u[i] > 0 && u[i] <= 1 && c[i] == (double)i * i + 6;
        mean += u[i] / 64;
        got.push_back((unsigned)(u[i] * 16777216));
    }
    ok &= mean > 0.3 && mean < 0.7;
    return verdict("random_numbers", ok, got);
}
