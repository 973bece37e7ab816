// Plain stores that race with other blocks: a filter and a shift in place, one result of all blocks.
#include "vgpu/tests/faults.cuh"

__device__ int last;

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
    if (threadIdx.x == 3)
        last = blockIdx.x; // expect: race_global
}

__global__ void sum(const float *x, float *out)
{
    __shared__ float part[64];
    part[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    for (int d = 32; d; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d)
            part[threadIdx.x] += part[threadIdx.x + d];
    }
    if (threadIdx.x == 0)
        *out = part[0]; // expect: race_global
}

int main()
{
    const int N = 512;
    std::vector<float> h(N);
    for (int i = 0; i < N; i++)
        h[i] = i;
    Device<float> x(h), out(1);
    Device<int> y(std::vector<int>(N, 1));
    smooth<<<8, 64>>>(x, N);
    shift<<<8, 64>>>(y, N);
    sum<<<8, 64>>>(x, out);
    return done(cudaSuccess);
}
