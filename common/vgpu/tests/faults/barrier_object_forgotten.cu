// nvcc: -std=c++17 -arch=compute_80
// A barrier object that waits for one thread more than exist.
#include "vgpu/tests/faults.cuh"

#include <cuda/barrier>

__global__ void wait_for_all(int *out)
{
    __shared__ __align__(8) uint64_t raw;
    auto *b = reinterpret_cast<cuda::barrier<cuda::thread_scope_block> *>(&raw);
    if (threadIdx.x == 0)
        init(b, blockDim.x + 1);
    __syncthreads();
    auto token = cuda::device::barrier_native_handle(*b);
    asm volatile(
        "mbarrier.arrive.shared.b64 _, [%0];" ::"r"((unsigned)__cvta_generic_to_shared(token)));
    for (unsigned ready = 0; !ready;) // expect: no_progress
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; "
                     "selp.u32 %0, 1, 0, p; }"
                     : "=r"(ready)
                     : "r"((unsigned)__cvta_generic_to_shared(token)));
    out[threadIdx.x] = 1;
}

int main()
{
    Device<int> out(64);
    wait_for_all<<<1, 64>>>(out);
    return done(cudaErrorLaunchTimeout);
}
