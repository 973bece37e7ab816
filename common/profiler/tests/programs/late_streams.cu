// expect: kernel=50 cudaStreamCreate=2 status=0
/* Kernels in the default stream first, and only then in two streams of their own, at the same time.
 */
#include "sample.cuh"

__global__ void count(int *x, int n)
{
    for (int i = 0; i < n; i++)
        atomicAdd(x, 1);
}

int main()
{
    int *x, sum;
    cudaStream_t streams[2];
    CHECK(cudaMalloc(&x, 2 * sizeof *x));
    CHECK(cudaMemset(x, 0, 2 * sizeof *x));
    for (int i = 0; i < 10; i++)
        count<<<1, 1>>>(x, 100);
    for (cudaStream_t &s : streams)
        CHECK(cudaStreamCreate(&s));
    for (int i = 0; i < 40; i++)
        count<<<1, 1, 0, streams[i % 2]>>>(x + i % 2, 100);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&sum, x, sizeof sum, cudaMemcpyDeviceToHost));
    return sum != 3000;
}
