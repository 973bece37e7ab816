// The functions behind <<<>>>: direct and extended launches, attributes, occupancy, names.
#include "vgpu/tests/check.cuh"

__global__ void __launch_bounds__(256) kernel(int *out, int v)
{
    __shared__ int s[300];
    s[threadIdx.x] = v + (int)threadIdx.x;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

int main()
{
    Device<int> d(512);
    int *p = d, v = 5;
    void *arguments[] = {&p, &v};
    CHECK(cudaLaunchKernel((const void *)kernel, dim3(2), dim3(256), arguments, 0, 0));
    CHECK(cudaDeviceSynchronize());
    std::vector<int> out = d.host();
    bool ok = out[0] == 260 && out[511] == 5;
    v = 6;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(4), config.blockDim = dim3(128);
    CHECK(cudaLaunchKernelEx(&config, kernel, p, v));
    CHECK(cudaDeviceSynchronize());
    out = d.host();
    ok &= out[0] == 133 && out[511] == 6;
    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, kernel));
    ok &= a.sharedSizeBytes == 1200 && a.maxThreadsPerBlock <= 1024 && a.numRegs > 0;
    int blocks = 0, grid = 0, block = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel, 0, 0));
    cudaDeviceProp prop;
    CHECK(cudaGetDeviceProperties(&prop, 0));
    ok &= blocks >= 1 && blocks * 256 <= prop.maxThreadsPerMultiProcessor && block % 32 == 0;
    ok &=
        grid >= prop.multiProcessorCount && prop.warpSize == 32 && prop.maxThreadsPerBlock == 1024;
    int value, count;
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaGetDeviceCount(&count));
    size_t available, total;
    CHECK(cudaMemGetInfo(&available, &total));
    ok &= value == prop.multiProcessorCount && count >= 1 && available <= total;
    return verdict("launch_api", ok, out);
}
