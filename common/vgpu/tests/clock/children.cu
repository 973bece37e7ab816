// nvcc: -gencode arch=compute_75,code=compute_75 -gencode arch=compute_75,code=sm_90 -rdc=true
// Kernels that launch empty kernels: measures the latency of a launch in a kernel, and the interval
// between launches in one stream, from many threads and blocks, and at the tail.
#include "vgpu/tests/clock/measure.cuh"

__global__ void child()
{
}

// Each thread launches kernels into its block's stream, or unordered.
__global__ void launch_in_order(int n)
{
    for (int i = 0; i < n; i++)
        child<<<1, 32>>>();
}

__global__ void launch_and_forget(int n)
{
    for (int i = 0; i < n; i++)
        child<<<1, 32, 0, cudaStreamFireAndForget>>>();
}

// A chain of tail launches, and a chain in which each grid is the child of the previous grid.
__global__ void chain(int n)
{
    if (n > 1)
        chain<<<1, 1, 0, cudaStreamTailLaunch>>>(n - 1);
}

__global__ void nest(int n)
{
    if (n > 1 && threadIdx.x == 0)
        nest<<<1, 32>>>(n - 1);
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    measure("children", "none", [] { launch_in_order<<<1, 1>>>(0); });
    for (int n : {1, 10, 100}) {
        const std::string many = std::to_string(n);
        measure("children", many + " in order", [=] { launch_in_order<<<1, 1>>>(n); });
        measure("children", many + " in no order", [=] { launch_and_forget<<<1, 1>>>(n); });
        measure("children", many + " threads, in no order",
                [=] { launch_and_forget<<<1, n>>>(1); });
        measure("children", many + " blocks, in order", [=] { launch_in_order<<<n, 1>>>(1); });
    }
    for (int n : {1, 5, 20}) {
        measure("children", std::to_string(n) + " at the tail of each other",
                [=] { chain<<<1, 1>>>(n); });
        measure("children", std::to_string(n) + " deep", [=] { nest<<<1, 32>>>(n); });
    }
    return 0;
}
