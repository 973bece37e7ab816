// nvcc: -std=c++17 -arch=compute_80
// Policies of the L2 cache, in PTX and in libcu++: they change no result.
#include <cuda/annotated_ptr>

#include "vgpu/tests/check.cuh"

const int N = 32;

__global__ void hints(const int *in, int *out)
{
    __shared__ int4 copied[N];
    const int t = threadIdx.x;
    const unsigned to = (unsigned)__cvta_generic_to_shared(&copied[t]);
    unsigned long long keep, part, range, converted;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(keep));
    asm volatile("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0, 0.5;"
                 : "=l"(part));
    asm volatile("createpolicy.range.L2::evict_last.L2::evict_first.b64 %0, [%1], %2, %3;"
                 : "=l"(range)
                 : "l"(in), "r"(64), "r"(128));
    asm volatile("createpolicy.cvt.L2.b64 %0, 0x10F0000000000000;" : "=l"(converted));
    int one, pair[2], before;
    asm volatile("ld.global.L2::cache_hint.s32 %0, [%1], %2;" : "=r"(one) : "l"(in + t), "l"(keep));
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v2.s32 {%0, %1}, [%2], %3;"
                 : "=r"(pair[0]), "=r"(pair[1])
                 : "l"(in), "l"(part));
    asm volatile("st.global.L2::cache_hint.s32 [%0], %1, %2;" ::"l"(out + t),
                 "r"(one + pair[0] + pair[1]), "l"(range));
    asm volatile("red.global.add.L2::cache_hint.s32 [%0], %1, %2;" ::"l"(out + t), "r"(10),
                 "l"(converted));
    asm volatile("atom.global.add.L2::cache_hint.s32 %0, [%1], %2, %3;"
                 : "=r"(before)
                 : "l"(out + t), "r"(100), "l"(keep));
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to),
                 "l"(in + t / 4 * 4), "l"(keep));
    asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;" ::"r"(to),
                 "l"(in + t / 4 * 4), "r"(8), "l"(keep));
    asm volatile("cp.async.wait_all;");
    out[t] += copied[t].y + copied[t].z + before;
}

__global__ void annotated(const int *in, int *out)
{
    const cuda::annotated_ptr<const int, cuda::access_property::persisting> from(in);
    const cuda::annotated_ptr<int, cuda::access_property::streaming> to(out);
    to[threadIdx.x] = 2 * from[threadIdx.x];
    const cuda::access_property some((void *)in, 64, 128, cuda::access_property::persisting{});
    out[threadIdx.x] += cuda::associate_access_property(in, some)[threadIdx.x];
    cuda::apply_access_property(in, 128, cuda::access_property::persisting{});
}

int main()
{
    std::vector<int> in(N);
    for (int i = 0; i < N; i++)
        in[i] = i + 1;
    Device<int> d_in(in), d_out(N);
    hints<<<1, N>>>(d_in, d_out);
    LAUNCHED();
    bool ok = true;
    for (int i = 0; i < N; i++) {
        const int first = i + 1 + 1 + 2 + 10;
        ok &= d_out.host()[i] == first + 100 + first + in[i / 4 * 4 + 1];
    }
    annotated<<<1, N>>>(d_in, d_out);
    LAUNCHED();
    for (int i = 0; i < N; i++)
        ok &= d_out.host()[i] == 3 * in[i];
    return verdict("cache_policies", ok, d_out.host());
}
