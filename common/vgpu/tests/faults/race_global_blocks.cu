// Plain stores that race with other blocks: a filter in place and a shift in place.
#include "vgpu/tests/faults.cuh"

__global__ void smooth(float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) {
        const float mean = (x[i - 1] + x[i] + x[i + 1]) / 3;
        __syncthreads();
        x[i] = mean; // expect: race_global
    }
}

__global__ void shift(int *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1)
        x[i] = x[i + 1]; // expect: race_global
}

int main()
{
    const int N = 512;
    std::vector<float> h(N);
    for (int i = 0; i < N; i++)
        h[i] = i;
    Device<float> x(h);
    Device<int> y(std::vector<int>(N, 1));
    smooth<<<8, 64>>>(x, N);
    shift<<<8, 64>>>(y, N);
    return done(cudaSuccess);
}
