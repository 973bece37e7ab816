// nvcc: -extended-lambda
// expect: kernel=4 status=0 name:void_lab::fill<int>(int*,_int) no_name:_Z
/* Kernels whose names have parts: namespaces, templates, a pack of parameters, a lambda. */
#include "sample.cuh"

namespace lab
{
template <typename T> __global__ void fill(T *x, T value)
{
    x[threadIdx.x] = value;
}
template <typename... T> __global__ void store(int *x, T... values)
{
    int i = 0;
    ((x[i++] = (int)values), ...);
}
template <typename F> __global__ void apply(F f)
{
    f(threadIdx.x);
}
} // namespace lab

int main()
{
    int *x;
    float *y;
    CHECK(cudaMalloc(&x, 4096));
    CHECK(cudaMalloc(&y, 4096));
    lab::fill<<<1, 32>>>(x, 7);
    lab::fill<<<1, 32>>>(y, 7.0f);
    lab::store<<<1, 1>>>(x, 1, 2.0f, (char)3);
    lab::apply<<<1, 32>>>([=] __device__(int i) { x[i] += i; });
    CHECK(cudaDeviceSynchronize());
    return 0;
}
