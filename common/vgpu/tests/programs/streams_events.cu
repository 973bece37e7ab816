// Streams and events: order within a stream, waiting for other streams, queries, elapsed times.
#include "vgpu/tests/check.cuh"

__global__ void fill(int *p, int v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = v;
}

__global__ void twice(const int *from, int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = 2 * from[i];
}

int main()
{
    const int n = 1000;
    cudaStream_t a, b, c;
    CHECK(cudaStreamCreate(&a));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    int least, greatest, priority;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaStreamCreateWithPriority(&c, cudaStreamNonBlocking, greatest));
    CHECK(cudaStreamGetPriority(c, &priority));
    unsigned flags;
    CHECK(cudaStreamGetFlags(b, &flags));
    EXPECT(priority == greatest && flags == cudaStreamNonBlocking);
    cudaEvent_t start, filled, end, untimed;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&filled));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    Device<int> x(n), y(n), z(n);
    int *h;
    CHECK(cudaMallocHost(&h, n * sizeof(int)));
    CHECK(cudaEventRecord(start, a));
    fill<<<8, 128, 0, a>>>(x, 21, n);
    CHECK(cudaEventRecord(filled, a));
    CHECK(cudaStreamWaitEvent(b, filled, 0));
    twice<<<8, 128, 0, b>>>(x, y, n);
    CHECK(cudaEventRecord(untimed, b));
    CHECK(cudaStreamWaitEvent(c, untimed, 0));
    twice<<<8, 128, 0, c>>>(y, z, n);
    CHECK(cudaMemcpyAsync(h, z, n * sizeof(int), cudaMemcpyDeviceToHost, c));
    CHECK(cudaEventRecord(end, c));
    cudaError_t state;
    while ((state = cudaStreamQuery(c)) == cudaErrorNotReady)
        ;
    CHECK(state);
    cudaGetLastError();
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventQuery(end));
    float ms = -1, part = -1;
    CHECK(cudaEventElapsedTime(&ms, start, end));
    CHECK(cudaEventElapsedTime(&part, start, filled));
    EXPECT(ms > 0 && part > 0 && part < ms);
    EXPECT(cudaEventElapsedTime(&part, start, untimed) == cudaErrorInvalidResourceHandle);
    EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok &= h[i] == 84;
    std::vector<int> out(h, h + n);
    CHECK(cudaFreeHost(h));
    for (cudaStream_t s : {a, b, c})
        CHECK(cudaStreamDestroy(s));
    for (cudaEvent_t e : {start, filled, end, untimed})
        CHECK(cudaEventDestroy(e));
    return verdict("streams_events", ok, out);
}
