// Dynamic shared memory: with static arrays, divided into several types, and above 48 KiB.
#include "vgpu/tests/check.cuh"

__global__ void carve(double *out, int n)
{
    __shared__ int fixed[32];
    extern __shared__ __align__(16) unsigned char raw[];
    double *d = (double *)raw;
    short *s = (short *)(raw + n * sizeof(double));
    int t = threadIdx.x;
    if (t < 32)
        fixed[t] = t;
    for (int i = t; i < n; i += blockDim.x)
        d[i] = i * 0.5, s[i] = (short)(n - i);
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x)
        out[i] = d[n - 1 - i] + s[i] + fixed[i % 32];
}

int main()
{
    bool ok = true;
    std::vector<double> last;
    for (int n : {100, 4000, 6000}) {
        size_t bytes = n * (sizeof(double) + sizeof(short));
        if (bytes > 48 << 10) {
            int most;
            CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
            if (bytes > (size_t)most)
                continue;
            CHECK(cudaFuncSetAttribute(carve, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       (int)bytes));
        }
        Device<double> d(n);
        carve<<<1, 128, bytes>>>(d, n);
        LAUNCHED();
        last = d.host();
        for (int i = 0; i < n; i++)
            ok &= last[i] == (n - 1 - i) * 0.5 + (n - i) + i % 32;
    }
    return verdict("dynamic_shared", ok, last);
}
