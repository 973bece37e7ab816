// Each block stores its own value at one address: a note, since the program may accept any of the values.
#include "vgpu/tests/faults.cuh"

__device__ int last;

__global__ void end()
{
    if (threadIdx.x == 3)
        last = blockIdx.x; // expect: store_order
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
        *out = part[0]; // expect: store_order
}

int main()
{
    const int N = 512;
    std::vector<float> h(N);
    for (int i = 0; i < N; i++)
        h[i] = i;
    Device<float> x(h), out(1);
    end<<<8, 64>>>();
    sum<<<8, 64>>>(x, out);
    return done(cudaSuccess);
}
