// expect: kernel=50 cudaStreamCreate=2 together status=0
/* Kernels in the default stream first, then in two other streams at the same time.
 */
#include "sample.cuh"

/* Still runs when the next kernel is launched. */
__global__ void count(unsigned *x, int n)
{
    unsigned v = *x;
    for (int i = 0; i < n; i++)
        v = v * 1664525 + 1013904223;
    *x = v;
}

int main()
{
    const int n = 20000;
    unsigned *x, last, expected = 0;
    cudaStream_t streams[2];
    CHECK(cudaMalloc(&x, 2 * sizeof *x));
    CHECK(cudaMemset(x, 0, 2 * sizeof *x));
    for (int i = 0; i < 10; i++)
        count<<<1, 1>>>(x, n);
    for (cudaStream_t &s : streams)
        CHECK(cudaStreamCreate(&s));
    for (int i = 0; i < 40; i++)
        count<<<1, 1, 0, streams[i % 2]>>>(x + i % 2, n);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&last, x, sizeof last, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 30 * n; i++)
        expected = expected * 1664525 + 1013904223;
    return last != expected;
}
