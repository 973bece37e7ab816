// expect: kernel=32 copy_htod=32 copy_dtoh=32 cudaLaunchKernel=32 cudaStreamCreate=4 status=0
/* Copies and kernels in four streams, from and to pinned memory, between two events. */
#include "sample.cuh"

int main()
{
    const int streams = 4, chunks = 8, n = 1 << 12;
    float *host, *device;
    cudaStream_t stream[streams];
    cudaEvent_t before, after;
    CHECK(cudaMallocHost(&host, streams * chunks * n * sizeof(float)));
    CHECK(cudaMalloc(&device, streams * chunks * n * sizeof(float)));
    CHECK(cudaEventCreate(&before));
    CHECK(cudaEventCreate(&after));
    for (int i = 0; i < streams * chunks * n; i++)
        host[i] = (float)i;
    for (int s = 0; s < streams; s++)
        CHECK(cudaStreamCreate(&stream[s]));
    CHECK(cudaEventRecord(before));
    for (int c = 0; c < chunks; c++)
        for (int s = 0; s < streams; s++) {
            float *h = host + (s * chunks + c) * n, *d = device + (s * chunks + c) * n;
            CHECK(cudaMemcpyAsync(d, h, n * sizeof(float), cudaMemcpyHostToDevice, stream[s]));
            scale<<<(n + 127) / 128, 128, 0, stream[s]>>>(d, n, 2);
            CHECK(cudaMemcpyAsync(h, d, n * sizeof(float), cudaMemcpyDeviceToHost, stream[s]));
        }
    for (int s = 0; s < streams; s++)
        CHECK(cudaStreamSynchronize(stream[s]));
    CHECK(cudaEventRecord(after));
    CHECK(cudaEventSynchronize(after));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, before, after));
    for (int i = 0; i < streams * chunks * n; i++)
        if (host[i] != (float)i * 2 + 1)
            return 1;
    return ms < 0;
}
