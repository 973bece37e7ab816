// A kernel writes a value, and another stream waits for it: the work of both streams is ordered.
#include "vgpu/tests/driver.cuh"

enum { N = 256 };

__global__ void twice(const int *in, int *out, int *flag)
{
    out[threadIdx.x] = 2 * in[threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        *flag = 1;
}

int main()
{
    int in[N], *out, *flag, *device;
    cudaStream_t writes, waits;
    for (int i = 0; i < N; i++)
        in[i] = i;
    CHECK(cudaMalloc(&device, 2 * sizeof in));
    CHECK(cudaMalloc(&flag, sizeof *flag));
    CHECK(cudaMallocHost(&out, sizeof in));
    CHECK(cudaStreamCreateWithFlags(&writes, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&waits, cudaStreamNonBlocking));
    CHECK(cudaMemset(flag, 0, sizeof *flag));
    CHECK(cudaMemcpy(device, in, sizeof in, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    twice<<<1, N, 0, writes>>>(device, device + N, flag);
    DO(cuStreamWaitValue32, waits, (CUdeviceptr)flag, 1, CU_STREAM_WAIT_VALUE_EQ);
    CHECK(cudaMemcpyAsync(out, device + N, sizeof in, cudaMemcpyDeviceToHost, waits));
    CHECK(cudaStreamSynchronize(waits));
    for (int i = 0; i < N; i++)
        EXPECT(out[i] == 2 * i);
    return verdict("stream_values", true);
}
