// Adds to a sum in a register that is not set. A second sum is set on the executed path, which is
// right.
#include "vgpu/tests/faults.cuh"

__global__ void sums(const int *n, float *out)
{
    float sum, other;
    if (n[0] > 2)
        other = 1;
    for (int i = 0; i < n[0]; i++)
        sum += (float)n[i]; // expect: uninitialised
    if (n[0] > 2)
        other += (float)n[1];
    out[threadIdx.x] = sum;
    out[32 + threadIdx.x] = other;
}

int main()
{
    Device<int> n(8);
    Device<float> out(64);
    const int numbers[8] = {8, 1, 2, 3, 4, 5, 6, 7};
    cudaMemcpy(n, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    sums<<<1, 32>>>(n, out);
    return done(cudaSuccess);
}
