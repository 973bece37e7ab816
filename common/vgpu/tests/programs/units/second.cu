// The second unit of units.cu.
#include "vgpu/tests/programs/units/units.cuh"

__device__ int counter;
__constant__ int table[4];
static __device__ int own = 2;

__device__ __noinline__ int cube(int x)
{
    return x * x * x;
}

static __device__ __noinline__ int twice(int x)
{
    return 3 * x + own;
}

static __device__ int plus_seven(int x)
{
    return x + 7;
}
__device__ int (*operation)(int) = plus_seven;

__device__ int shared_sum(int x)
{
    __shared__ int s[8];
    s[threadIdx.x % 8] = x;
    printf("second unit\n");
    return s[threadIdx.x % 8] + own;
}

__global__ void second(int *out)
{
    int i = threadIdx.x;
    out[i] = twice(i) + cube(i);
}

void fill_table()
{
    const int values[4] = {0, 10, 20, 30};
    CHECK(cudaMemcpyToSymbol(table, values, sizeof values));
}

void run_second(int *out, int n)
{
    second<<<1, n>>>(out);
    LAUNCHED();
}

int read_counter()
{
    int value;
    CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    return value;
}
