// Vector addition with a guard: a size that is not a multiple of the block.
#include "vgpu/tests/check.cuh"

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main()
{
    const int n = 10007;
    Random random(1);
    std::vector<float> a(n), b(n);
    for (int i = 0; i < n; i++)
        a[i] = random.unit(), b[i] = random.unit();
    Device<float> da(a), db(b), dc(n);
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    LAUNCHED();
    std::vector<float> c = dc.host();
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok &= c[i] == a[i] + b[i];
    return verdict("vector_add", ok, c);
}
