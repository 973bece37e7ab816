// Recursive device functions, with state on each thread's stack.
#include "vgpu/tests/check.cuh"

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__device__ void permute(int *a, int k, int n, unsigned *hash)
{
    if (k == n) {
        for (int i = 0; i < n; i++)
            *hash = *hash * 31 + a[i];
        return;
    }
    for (int i = k; i < n; i++) {
        int t = a[k];
        a[k] = a[i], a[i] = t;
        permute(a, k + 1, n, hash);
        t = a[k];
        a[k] = a[i], a[i] = t;
    }
}

__global__ void work(int *out)
{
    int t = threadIdx.x, a[5] = {t, 1, 2, 3, 4};
    unsigned hash = 0;
    permute(a, 0, 4 + (t & 1), &hash);
    out[t * 3] = fibonacci(t % 12);
    out[t * 3 + 1] = ackermann(t % 3, t % 5);
    out[t * 3 + 2] = (int)hash;
}

static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main()
{
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 16384));
    Device<int> dout(64 * 3);
    work<<<1, 64>>>(dout);
    LAUNCHED();
    std::vector<int> out = dout.host();
    bool ok = true;
    for (int t = 0; t < 64; t++) {
        int m = t % 3, n = t % 5;
        ok &= out[t * 3] == fib(t % 12);
        ok &= out[t * 3 + 1] == (m == 0 ? n + 1 : m == 1 ? n + 2 : 2 * n + 3);
    }
    return verdict("recursion", ok, out);
}
