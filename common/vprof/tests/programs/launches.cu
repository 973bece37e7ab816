// arguments: 100000
// expect: kernel=100000 cudaLaunchKernel=100000 status=0
/* Many launches without a pause. Prints the time per launch by the host's clock. */
#include "sample.cuh"

#include <ctime>

static double now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 100000;
    float *x;
    CHECK(cudaMalloc(&x, 4096));
    CHECK(cudaMemset(x, 0, 4096));
    scale<<<1, 32>>>(x, 32, 1);
    CHECK(cudaDeviceSynchronize());
    const double start = now();
    for (int i = 1; i < n; i++)
        scale<<<1, 32>>>(x, 32, 1);
    CHECK(cudaDeviceSynchronize());
    printf("%.0f ns per launch\n", (now() - start) / (n - 1));
    return 0;
}
