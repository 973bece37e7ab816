// The program ends by SIGINT while its kernel runs, as if the user had pressed Ctrl-C: with the argument "race" after a
// race in shared memory, otherwise after none.
#include <csignal>
#include <unistd.h>

__global__ void run_on(volatile int *raced, int *sums, bool race)
{
    __shared__ int values[64];
    const int i = threadIdx.x;
    values[i] = i;
    if (!race)
        __syncthreads();
    sums[i] = values[i ^ 32];
    __syncthreads();
    if (i == 0)
        *raced = 1;
    if (i < 32) // the other warp waits at the barrier
        for (long n = 0; n < 1L << 50; n++)
            sums[i] = sums[i] * 3 + 1;
    __syncthreads();
}

int main(int n, char **)
{
    int *raced, *sums;
    cudaHostAlloc(&raced, sizeof *raced, cudaHostAllocMapped);
    *raced = 0;
    cudaMalloc(&sums, 64 * sizeof *sums);
    run_on<<<1, 64>>>(raced, sums, n > 1);
    while (!*(volatile int *)raced)
        usleep(1000);
    raise(SIGINT);
}
