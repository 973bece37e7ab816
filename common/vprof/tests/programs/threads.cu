// expect: kernel=100 cudaLaunchKernel=100 cudaStreamSynchronize=4 status=0
/* Four threads, each with a separate stream and memory. */
#include "sample.cuh"

#include <thread>
#include <vector>

static void work(int number)
{
    const int n = 1000 + number;
    float *x;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMemsetAsync(x, 0, n * sizeof(float), stream));
    for (int i = 0; i < 25; i++)
        scale<<<(n + 63) / 64, 64, 0, stream>>>(x, n, 1);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(x));
}

int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(work, i);
    for (auto &t : threads)
        t.join();
    return 0;
}
