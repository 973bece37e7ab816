// nvcc: -arch=compute_75 -rdc=true -Icommon common/vgpu/tests/programs/units/second.cu
// Separate compilation: functions, variables and constants of another unit, and names that are
// private to both units.
#include "vgpu/tests/programs/units/units.cuh"

static __device__ int own = 1;
static __device__ __noinline__ int twice(int x)
{
    return 2 * x + own;
}

__global__ void first(int *out)
{
    int i = threadIdx.x;
    out[i] = cube(i) + twice(i) + table[i % 4] + operation(i);
    atomicAdd(&counter, i);
    if (i == 0)
        printf("first unit: %d\n", shared_sum(5));
}

int main()
{
    const int n = 64;
    Device<int> a(n), b(n);
    fill_table();
    first<<<1, n>>>(a);
    run_second(b, n);
    LAUNCHED();
    std::vector<int> x = a.host(), y = b.host();
    bool ok = true;
    for (int i = 0; i < n; i++) {
        ok &= x[i] == i * i * i + 2 * i + 1 + 10 * (i % 4) + (i + 7);
        ok &= y[i] == 3 * i + 2 + i * i * i;
    }
    ok &= read_counter() == n * (n - 1) / 2;
    x.insert(x.end(), y.begin(), y.end());
    return verdict("units", ok, x);
}
