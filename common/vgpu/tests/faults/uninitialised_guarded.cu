// Adds to sums in registers that are not set, each under a condition that is tested again before each
// addition. The sums of the second kernel are set, under the same conditions, which is right.
#include "vgpu/tests/faults.cuh"

__global__ void adds(const int *n, int count, float *out)
{
    float sum[2];
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < 2; j++)
            if (j < count)
                sum[j] += (float)n[i + j]; // expect: uninitialised
    for (int j = 0; j < 2; j++)
        if (j < count)
            out[32 * j + threadIdx.x] = sum[j];
}

__global__ void sets(const int *n, int count, float *out)
{
    float sum[2];
    for (int j = 0; j < 2; j++)
        if (j < count)
            sum[j] = 0;
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < 2; j++)
            if (j < count)
                sum[j] += (float)n[i + j];
    for (int j = 0; j < 2; j++)
        if (j < count)
            out[32 * j + threadIdx.x] = sum[j];
}

int main()
{
    Device<int> n(8);
    Device<float> out(64);
    const int numbers[8] = {6, 1, 2, 3, 4, 5, 6, 7};
    cudaMemcpy(n, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    sets<<<1, 32>>>(n, 2, out);
    adds<<<1, 32>>>(n, 2, out);
    return done(cudaSuccess);
}
