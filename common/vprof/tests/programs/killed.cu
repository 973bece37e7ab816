// expect: kernel=5 cudaMalloc=1 status=137
/* Runs five kernels; shortly after, the process is killed, which no handler can catch. */
#include "sample.cuh"

#include <csignal>
#include <unistd.h>

int main()
{
    float *x;
    CHECK(cudaMalloc(&x, 4096));
    CHECK(cudaMemset(x, 0, 4096));
    for (int i = 0; i < 5; i++)
        scale<<<4, 256>>>(x, 1024, 2);
    CHECK(cudaDeviceSynchronize());
    usleep(500000);
    kill(getpid(), SIGKILL);
    return 0;
}
