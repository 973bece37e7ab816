// The host changes page-locked memory right after an asynchronous copy of it; later it waits first.
#include <cstdio>

int main()
{
    int *host, *device;
    cudaStream_t stream;
    cudaMallocHost(&host, 64 * sizeof(int));
    cudaMalloc(&device, 64 * sizeof(int));
    cudaStreamCreate(&stream);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 64; i++)
            host[i] = round + i;
        cudaMemcpyAsync(device, host, 64 * sizeof(int), cudaMemcpyHostToDevice, stream);
        if (round > 0)
            cudaStreamSynchronize(stream);
    }
    return cudaDeviceSynchronize();
}
