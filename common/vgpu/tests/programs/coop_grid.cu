// nvcc: -std=c++17
// A cooperative launch: phases over the whole grid, separated by grid.sync().
#include <cooperative_groups.h>

#include "vgpu/tests/check.cuh"

namespace cg = cooperative_groups;

__global__ void jacobi(float *a, float *b, int n, int steps)
{
    cg::grid_group grid = cg::this_grid();
    for (int s = 0; s < steps; s++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            b[i] = 0.5f * (a[(i + n - 1) % n] + a[(i + 1) % n]);
        grid.sync();
        float *t = a;
        a = b;
        b = t;
    }
}

int main()
{
    int n = 1000, steps = 4;
    Random random(14);
    std::vector<float> a(n), b(n);
    for (float &v : a)
        v = random.exact();
    Device<float> da(a), db(n);
    float *pa = da, *pb = db;
    void *arguments[] = {&pa, &pb, &n, &steps};
    CHECK(cudaLaunchCooperativeKernel((const void *)jacobi, dim3(4), dim3(128), arguments));
    CHECK(cudaDeviceSynchronize());
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < n; i++)
            b[i] = 0.5f * (a[(i + n - 1) % n] + a[(i + 1) % n]);
        a.swap(b);
    }
    std::vector<float> got = da.host();
    return verdict("coop_grid", got == a, got);
}
