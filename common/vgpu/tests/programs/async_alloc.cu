// Stream-ordered allocation; many allocations, which must not overlap.
#include "vgpu/tests/check.cuh"

#include <algorithm>

__global__ void tag(int *p, int v, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        p[i] = v;
}

int main()
{
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    const int count = 200;
    std::vector<int *> p(count);
    std::vector<int> size(count), got;
    Random random(39);
    for (int i = 0; i < count; i++) {
        size[i] = 1 + random.below(500);
        CHECK(cudaMallocAsync((void **)&p[i], size[i] * sizeof(int), s));
        EXPECT((uintptr_t)p[i] % 256 == 0);
        tag<<<1, 32, 0, s>>>(p[i], i, size[i]);
    }
    CHECK(cudaStreamSynchronize(s));
    bool ok = true;
    for (int i = 0; i < count; i++) {
        std::vector<int> h(size[i]);
        CHECK(cudaMemcpy(h.data(), p[i], size[i] * sizeof(int), cudaMemcpyDefault));
        ok &= std::count(h.begin(), h.end(), i) == size[i];
        got.push_back(h[0]);
    }
    for (int i = 0; i < count; i++)
        CHECK(cudaFreeAsync(p[i], s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaStreamDestroy(s));
    return verdict("async_alloc", ok, got);
}
