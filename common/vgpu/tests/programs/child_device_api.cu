// nvcc: -arch=compute_75 -rdc=true
// Calls of the runtime in device code: memory, attributes of the device and of kernels, limits,
// occupancy. Each result equals the host's.
#include "vgpu/tests/check.cuh"

__global__ void worker(int *p)
{
    __shared__ int s[100];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    p[threadIdx.x] = s[(threadIdx.x + 1) % blockDim.x];
}

__global__ void sum_up(int *numbers, int *sum, int n)
{
    for (int i = 0; i < n; i++)
        *sum += numbers[i];
    cudaFree(numbers);
}

__global__ void ask(long *to, int *sum)
{
    int v = -1;
    size_t bytes;
    cudaFuncAttributes a;
    to[0] = cudaGetDevice(&v) + v;
    cudaGetDeviceCount(&v);
    to[1] = v;
    cudaDeviceGetAttribute(&v, cudaDevAttrMultiProcessorCount, 0);
    to[2] = v;
    cudaDeviceGetAttribute(&v, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    to[3] = v;
    to[4] =
        cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 1); // the number of the device is ignored
    cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize);
    to[5] = bytes;
    cudaDeviceGetLimit(&bytes, cudaLimitDevRuntimePendingLaunchCount);
    to[6] = bytes;
    cudaFuncGetAttributes(&a, worker);
    to[7] = a.sharedSizeBytes;
    to[8] = a.maxThreadsPerBlock;
    to[9] = a.numRegs;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, worker, 256, 1000);
    to[10] = v;
    to[12] = cudaGetLastError();
    int *numbers;
    to[11] = cudaMalloc(&numbers, 100 * sizeof *numbers);
    worker<<<1, 100>>>(numbers);
    sum_up<<<1, 1>>>(numbers, sum, 100);
    to[13] = cudaGetLastError();
}

int main()
{
    Device<long> out(14);
    Device<int> sum(1);
    sum.zero();
    CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096));
    ask<<<1, 1>>>(out, sum);
    LAUNCHED();
    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, worker));
    int multiprocessors, shared, blocks;
    size_t heap;
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CHECK(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, worker, 256, 1000));
    const long want[] = {0,    1,   multiprocessors,      shared,    0,      (long)heap,
                         4096, 400, a.maxThreadsPerBlock, a.numRegs, blocks, 0,
                         0,    0};
    std::vector<long> got = out.host();
    bool ok = sum.host()[0] == 4950;
    for (int i = 0; i < 14; i++) {
        if (got[i] != want[i])
            printf("answer %d is %ld, expected %ld\n", i, got[i], want[i]);
        ok &= got[i] == want[i];
    }
    return verdict("child_device_api", ok);
}
