// nvcc: -arch=compute_75 -rdc=true
// A kernel requests a copy that is longer than the array.
#include "vgpu/tests/faults.cuh"

__global__ void copy(int *to, const int *from, size_t bytes)
{
    cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, 0); // expect: out_of_bounds
}

int main()
{
    Device<int> from(1000), to(999);
    from.zero();
    copy<<<1, 1>>>(to, from, 1000 * sizeof(int));
    return done(cudaErrorIllegalAddress);
}
