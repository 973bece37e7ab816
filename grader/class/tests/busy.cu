/* Another program on the GPU: it computes for a while, then idles until it is killed. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__global__ void spin(long long cycles, int *never)
{
    const long long begin = clock64();
    while (clock64() - begin < cycles)
        if (*never)
            return;
}

int main()
{
    int *never, blocks = 0;
    if (cudaMalloc(&never, sizeof *never) || cudaMemset(never, 0, sizeof *never) ||
        cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0)) {
        fprintf(stderr, "busy: no GPU\n");
        return 1;
    }
    for (;;) { /* each launch takes up to half a second, at about 2 GHz */
        spin<<<8 * blocks, 256>>>(rand() % 1000000000LL, never);
        const cudaError_t error = cudaDeviceSynchronize(), launch = cudaGetLastError();
        if (error || launch) {
            fprintf(stderr, "busy: %s\n", cudaGetErrorString(error ? error : launch));
            return 1;
        }
        usleep(rand() % 500000);
    }
}
