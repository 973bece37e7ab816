// Divergence of every shape: nested ifs, loops of different lengths, break, continue, goto, early
// return from a function, short-circuit conditions.
#include "vgpu/tests/check.cuh"

__host__ __device__ int early(int v)
{
    for (int i = 0; i < 10; i++) {
        if (v % (i + 2) == 0)
            return i;
        if (v > 50 && i > 3)
            return -i;
    }
    return 77;
}

__host__ __device__ int shapes(int t)
{
    int r = 0;
    if (t & 1) {
        if (t & 2)
            r += t & 4 ? 1 : 2;
        else if (t & 8)
            r += 3;
    } else
        r -= t & 16 ? 5 : 7;
    for (int i = 0; i < t % 9; i++) {
        if (i == 5)
            break;
        if ((i ^ t) & 1)
            continue;
        for (int j = t % 3; j < 4; j++) {
            r += i * j;
            if (r > 40)
                goto out;
        }
    }
    r += 1000;
out:
    int n = t;
    while (n != 1 && r < 100000) { // Collatz: very different lengths
        n = n & 1 ? 3 * n + 1 : n / 2;
        r++;
    }
    do
        r ^= n << (r & 3);
    while (++n % 5);
    return r * 31 + early(t) + ((t > 10 && early(t - 10) > 2) || t == 3 ? 4 : 0);
}

__global__ void work(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = shapes(i + 1);
}

int main()
{
    const int n = 333;
    Device<int> dout(n);
    work<<<3, 128>>>(dout, n);
    LAUNCHED();
    std::vector<int> out = dout.host();
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok &= out[i] == shapes(i + 1);
    return verdict("divergence", ok, out);
}
