// nvcc: -std=c++17 -arch=compute_90
// Sizes of clusters that the driver accepts and refuses, and its errors.
#include "vgpu/tests/check.cuh"

__global__ void any_size(int *out)
{
    unsigned rank;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(rank));
    if (threadIdx.x == 0)
        out[blockIdx.x] = rank;
}

__global__ void __cluster_dims__(2, 1, 1) pairs(int *out)
{
    if (threadIdx.x == 0)
        out[blockIdx.x] = 2;
}

static cudaError_t launch(void (*kernel)(int *), dim3 grid, int cluster, int *out)
{
    cudaLaunchAttribute size = {};
    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim = {(unsigned)cluster, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = 32;
    config.attrs = &size;
    config.numAttrs = cluster > 0;
    cudaError_t error = cudaLaunchKernelEx(&config, kernel, out);
    cudaGetLastError();
    cudaError_t later = cudaDeviceSynchronize();
    return error ? error : later;
}

static bool is(const char *what, cudaError_t got, cudaError_t want)
{
    if (got != want)
        printf("%s: %s, expected %s\n", what, cudaGetErrorName(got), cudaGetErrorName(want));
    return got == want;
}

int main()
{
    const cudaError_t wrong = cudaErrorInvalidClusterSize;
    Device<int> out(64);
    bool ok = true;
    int supported = 0;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrClusterLaunch, 0));
    cudaDeviceProp prop;
    CHECK(cudaGetDeviceProperties(&prop, 0));
    ok &= supported == 1 && prop.clusterLaunch == 1;

    ok &= is("no cluster", launch(any_size, 6, 0, out), cudaSuccess) && out.host()[5] == 1;
    ok &= is("clusters of 3", launch(any_size, 6, 3, out), cudaSuccess) && out.host()[5] == 3;
    ok &= is("grid of 6, clusters of 4", launch(any_size, 6, 4, out), wrong);
    ok &= is("grid of 3 blocks for pairs", launch(pairs, 3, 0, out), wrong);
    ok &= is("clusters of 4 of pairs", launch(pairs, 4, 4, out), wrong);
    ok &= is("pairs, named too", launch(pairs, 4, 2, out), cudaSuccess);
    ok &= is("clusters of 16, not portable", launch(any_size, 16, 16, out), wrong);
    CHECK(cudaFuncSetAttribute(any_size, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    ok &= is("clusters of 16, allowed", launch(any_size, 16, 16, out), cudaSuccess) &&
          out.host()[15] == 16;
    ok &= is("clusters of 32", launch(any_size, 32, 32, out), wrong);

    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, pairs));
    ok &= a.requiredClusterWidth == 2 && a.requiredClusterHeight == 1 &&
          a.nonPortableClusterSizeAllowed == 0;
    CHECK(cudaFuncGetAttributes(&a, any_size));
    ok &= a.requiredClusterWidth == 0 && a.clusterDimMustBeSet == 0 &&
          a.nonPortableClusterSizeAllowed == 1;

    cudaLaunchAttribute size = {};
    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim = {2, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = 8;
    config.blockDim = 1024;
    config.attrs = &size;
    config.numAttrs = 1;
    int clusters = 0, largest = 0;
    CHECK(cudaOccupancyMaxActiveClusters(&clusters, any_size, &config));
    CHECK(cudaOccupancyMaxPotentialClusterSize(&largest, any_size, &config));
    ok &= clusters == prop.multiProcessorCount; // two blocks each
    ok &= largest == 16;
    CHECK(cudaOccupancyMaxPotentialClusterSize(&largest, pairs, &config));
    ok &= largest == 8;
    return verdict("cluster_limits", ok);
}
