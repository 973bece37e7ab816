// nvcc: -std=c++17
// Kernels without one of their grid.sync(), beside atomics and other grid.sync().
#include <cooperative_groups.h>

#include "vgpu/tests/faults.cuh"

namespace cg = cooperative_groups;

// A plain load of other blocks' plain stores, after a histogram by atomics.
__global__ void partial_sums(const int *x, int *bins, int *partial, int *total, int n)
{
    cg::grid_group grid = cg::this_grid();
    int sum = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) {
        atomicAdd(&bins[x[i] & 15], 1);
        sum += x[i];
    }
    __shared__ int all;
    if (threadIdx.x == 0)
        all = 0;
    __syncthreads();
    atomicAdd(&all, sum);
    __syncthreads();
    if (threadIdx.x == 0)
        partial[blockIdx.x] = all; // expect: race_global
    // grid.sync() is missing
    if (threadIdx.x == 0)
        total[blockIdx.x] = partial[(blockIdx.x + 1) % gridDim.x];
}

// Counts by atomics that another block reads too early.
__global__ void offsets(const int *x, int *bins, int *first, int n)
{
    cg::grid_group grid = cg::this_grid();
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        atomicAdd(&bins[x[i] & 15], 1); // expect: race_global
    // grid.sync() is missing
    for (int i = grid.thread_rank(); i < 16; i += grid.size()) {
        int before = 0;
        for (int k = 0; k < i; k++)
            before += bins[k];
        first[i] = before;
    }
    grid.sync();
    if (grid.thread_rank() == 0)
        bins[0] = first[15];
}

// Each block clears a part, and all count.
__global__ void clear_and_count(const int *x, int *bins, int n)
{
    cg::grid_group grid = cg::this_grid();
    for (int i = grid.thread_rank(); i < 512; i += grid.size())
        bins[i] = 0; // expect: race_global
    // grid.sync() is missing
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        atomicAdd(&bins[x[i] & 511], 1);
}

// A work list, filled by a counter.
__global__ void compact(const int *x, int *list, int *count, int *out, int n)
{
    cg::grid_group grid = cg::this_grid();
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        list[atomicAdd(count, 1)] = 3 * x[i]; // expect: race_global
    // grid.sync() is missing
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        out[i] = list[n - 1 - i] + 1;
}

// The second of two grid.sync() in a loop is missing.
__global__ void relax(float *a, float *b, int *steps, int n)
{
    cg::grid_group grid = cg::this_grid();
    for (int s = 0; s < 3; s++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            b[i] = 0.5f * (a[(i + n - 1) % n] + a[(i + 1) % n]);
        grid.sync();
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            a[i] = b[i]; // expect: race_global
        if (threadIdx.x == 0)
            atomicAdd(steps, 1);
    }
}

template <class... T> void launch(void (*kernel)(T...), int blocks, T... parameters)
{
    void *arguments[] = {&parameters...};
    CHECK(cudaLaunchCooperativeKernel((const void *)kernel, dim3(blocks), dim3(64), arguments));
    CHECK(cudaDeviceSynchronize());
}

int main()
{
    const int n = 1000;
    std::vector<int> h(n);
    for (int i = 0; i < n; i++)
        h[i] = (i * 37) % 1001;
    Device<int> x(h), bins(std::vector<int>(512, 7)), partial(std::vector<int>(64)),
        total(std::vector<int>(64)), list(std::vector<int>(n, 0)), out((size_t)n),
        count(std::vector<int>(1, 0));
    Device<float> a(std::vector<float>(n, 1)), b((size_t)n);
    std::vector<float> ramp(n);
    for (int i = 0; i < n; i++)
        ramp[i] = i % 17;
    CHECK(cudaMemcpy(a, ramp.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    launch(partial_sums, 4, (const int *)x.p, bins.p, partial.p, total.p, n);
    launch(offsets, 4, (const int *)x.p, bins.p, partial.p, n);
    launch(clear_and_count, 4, (const int *)x.p, bins.p, n);
    launch(compact, 4, (const int *)x.p, list.p, count.p, out.p, n);
    launch(relax, 4, a.p, b.p, count.p, n);
    return done(cudaSuccess);
}
