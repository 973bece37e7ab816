// nvcc: -arch=compute_90
// Atomics on vectors of floats and halves, and on 128 bits.
#include "vgpu/tests/check.cuh"

#include <cuda_fp16.h>

__global__ void add(float4 *p, float2 *q, __half2 *h, float4 *old)
{
    float4 before = atomicAdd(p, make_float4(1, 2, 3, 0.5f));
    atomicAdd(q + threadIdx.x % 2, make_float2(1, -1));
    atomicAdd(h, __floats2half2_rn(1, 0.25f));
    if (before.x == 0)
        *old = before;
}

struct alignas(16) Pair {
    long long count, sum;
};

// A counter and a sum that change together.
__global__ void together(Pair *p)
{
    Pair seen = {0, 0}, want;
    do {
        want = seen;
        Pair next = {want.count + 1, want.sum + (int)(blockIdx.x * blockDim.x + threadIdx.x)};
        seen = atomicCAS(p, want, next);
    } while (seen.count != want.count || seen.sum != want.sum);
    if (seen.count == 95)
        atomicExch(p + 1, Pair{7, -7});
}

int main()
{
    Device<float4> p(2);
    Device<float2> q(2);
    Device<__half2> h(1);
    Device<Pair> pair(2);
    p.zero(), q.zero(), h.zero(), pair.zero();
    add<<<2, 64>>>(p, q, h, p.p + 1);
    together<<<3, 32>>>(pair);
    LAUNCHED();
    float4 v = p.host()[0], old = p.host()[1];
    float2 w = q.host()[1];
    __half2 s = h.host()[0];
    Pair got = pair.host()[0], other = pair.host()[1];
    bool ok = v.x == 128 && v.y == 256 && v.z == 384 && v.w == 64 && old.w == 0 && w.x == 64 &&
              w.y == -64 && __low2float(s) == 128 && __high2float(s) == 32 && got.count == 96 &&
              got.sum == 95 * 96 / 2 && other.sum == -7;
    return verdict(
        "atomics_wide", ok,
        std::vector<double>{v.x, v.y, v.z, v.w, w.x, (double)got.count, (double)got.sum});
}
