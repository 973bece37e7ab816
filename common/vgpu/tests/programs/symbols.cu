// __constant__ and __device__ variables: copies with offsets, addresses, sizes, initial values.
#include "vgpu/tests/check.cuh"

struct Pair {
    char c;
    double d;
};

__constant__ float weights[25];
__constant__ Pair pair = {'q', 2.5};
__device__ int counters[4] = {10, 20, 30, 40};
__device__ double scale = 0.5;
static __device__ short hidden[3] = {-1, -2, -3};

__global__ void work(float *out)
{
    int t = threadIdx.x;
    out[t] = weights[t] * (float)scale + hidden[t % 3] + (float)pair.d;
    if (t < 4)
        atomicAdd(&counters[t], t);
}

int main()
{
    float w[25], part[2] = {100, 200};
    for (int i = 0; i < 25; i++)
        w[i] = (float)i;
    double s = 4;
    CHECK(cudaMemcpyToSymbol(weights, w, sizeof w));
    CHECK(cudaMemcpyToSymbol(weights, part, sizeof part, 3 * sizeof(float)));
    CHECK(cudaMemcpyToSymbolAsync(scale, &s, sizeof s, 0, cudaMemcpyHostToDevice, 0));
    Device<float> dout(25);
    work<<<1, 25>>>(dout);
    LAUNCHED();
    std::vector<float> out = dout.host();
    int c[4];
    short h;
    CHECK(cudaMemcpyFromSymbol(c, counters, sizeof c));
    CHECK(cudaMemcpyFromSymbol(&h, hidden, sizeof h, 2 * sizeof h));
    void *address;
    size_t bytes;
    CHECK(cudaGetSymbolAddress(&address, counters));
    CHECK(cudaGetSymbolSize(&bytes, counters));
    int one;
    CHECK(cudaMemcpy(&one, (int *)address + 2, sizeof one, cudaMemcpyDeviceToHost));
    bool ok = h == -3 && bytes == 16 && one == 32;
    for (int i = 0; i < 4; i++)
        ok &= c[i] == 10 * (i + 1) + i;
    for (int i = 0; i < 25; i++) {
        float v = i == 3 ? 100.f : i == 4 ? 200.f : (float)i;
        ok &= out[i] == v * 4 + (-1 - i % 3) + 2.5f;
    }
    EXPECT(cudaMemcpyToSymbol(weights, w, sizeof w, 4) == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    return verdict("symbols", ok, out);
}
