// A guard with <= : the last thread reads one element past the end.
#include "vgpu/tests/faults.cuh"

__global__ void copy(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {
        float v = in[i]; // expect: out_of_bounds
        if (i < n)
            out[i] = v;
        else
            out[0] = v;
    }
}

int main()
{
    Device<float> in(std::vector<float>(900, 1.0f)), out(900);
    copy<<<4, 256>>>(in, out, 900);
    return done(cudaErrorIllegalAddress);
}
