// Copies in both directions during kernels: with page-locked memory, several streams take less time
// than one; with other memory they do not. Also copies of rows, with cudaMemcpyDefault, and to
// stream-ordered memory.
#include "vgpu/tests/check.cuh"

enum { PARTS = 8, N = 1 << 18 };

__global__ void increase(const int *from, int *to, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i] + 1;
}

static cudaStream_t stream[PARTS];

// Sends the data through the device in parts. @return the time in milliseconds
static float through(const int *from, int *to, int *d_in, int *d_out, int streams,
                     cudaMemcpyKind in, cudaMemcpyKind out)
{
    cudaEvent_t begin, end;
    float ms = -1;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < PARTS; i++) {
        const cudaStream_t s = stream[i % streams];
        const int at = i * N;
        CHECK(cudaMemcpyAsync(d_in + at, from + at, N * sizeof(int), in, s));
        increase<<<N / 256, 256, 0, s>>>(d_in + at, d_out + at, N);
        CHECK(cudaMemcpyAsync(to + at, d_out + at, N * sizeof(int), out, s));
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return ms;
}

static bool increased(const int *from, const int *to, int n)
{
    bool right = true;
    for (int i = 0; i < n; i++)
        right &= to[i] == from[i] + 1;
    return right;
}

int main()
{
    const int all = PARTS * N;
    int *from, *to;
    std::vector<int> pageable(all), back(all);
    Device<int> d_in(all), d_out(all);
    CHECK(cudaMallocHost(&from, all * sizeof(int)));
    CHECK(cudaMallocHost(&to, all * sizeof(int)));
    for (int i = 0; i < all; i++)
        from[i] = pageable[i] = 7 * i;
    for (cudaStream_t &s : stream)
        CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    bool ok = true;

    // Warm-up, then one stream, several streams, several streams with other memory.
    through(from, to, d_in, d_out, 1, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost);
    const float one =
        through(from, to, d_in, d_out, 1, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost);
    ok &= increased(from, to, all);
    memset(to, 0, all * sizeof(int));
    const float several = through(from, to, d_in, d_out, 4, cudaMemcpyDefault, cudaMemcpyDefault);
    ok &= increased(from, to, all);
    const float staged = through(pageable.data(), back.data(), d_in, d_out, 4,
                                 cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost);
    ok &= increased(pageable.data(), back.data(), all);
    EXPECT(several < 0.8f * one);
    EXPECT(staged > several);

    // Every other row of 100, from and to page-locked memory; the bytes between the rows are
    // unchanged.
    memset(to, 0, all * sizeof(int));
    CHECK(cudaMemcpy2DAsync(d_in, 100 * sizeof(int), from, 200 * sizeof(int), 100 * sizeof(int), 50,
                            cudaMemcpyHostToDevice, stream[0]));
    increase<<<20, 256, 0, stream[0]>>>(d_in, d_out, 5000);
    CHECK(cudaMemcpy2DAsync(to, 200 * sizeof(int), d_out, 100 * sizeof(int), 100 * sizeof(int), 50,
                            cudaMemcpyDeviceToHost, stream[0]));
    CHECK(cudaStreamSynchronize(stream[0]));
    for (int i = 0; i < 10000; i++)
        ok &= to[i] == (i / 100 % 2 ? 0 : from[i] + 1);

    // Stream-ordered memory is freed without waiting: the host's next call finds the copy
    // unfinished.
    int *own;
    CHECK(cudaMallocAsync((void **)&own, all * sizeof(int), stream[1]));
    CHECK(cudaMemcpyAsync(own, from, all * sizeof(int), cudaMemcpyHostToDevice, stream[1]));
    CHECK(cudaFreeAsync(own, stream[1]));
    EXPECT(cudaStreamQuery(stream[1]) == cudaErrorNotReady);
    EXPECT(cudaGetLastError() == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream[1]));

    // A copy past the end of page-locked memory is refused.
    EXPECT(cudaMemcpy(d_in, from + all - 1, 8, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);

    std::vector<int> out(to, to + 10000);
    CHECK(cudaFreeHost(from));
    CHECK(cudaFreeHost(to));
    for (cudaStream_t s : stream)
        CHECK(cudaStreamDestroy(s));
    return verdict("copies_overlap", ok, out);
}
