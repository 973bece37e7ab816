// nvcc: -std=c++17 -arch=compute_90
// A box begins before the start of the array: stored boxes may extend only past the array's end.
#include "vgpu/tests/bulk.cuh"
#include "vgpu/tests/faults.cuh"
#include "vgpu/tests/tensor_map.cuh"

__global__ void fill(const __grid_constant__ CUtensorMap map)
{
    __shared__ __align__(128) int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE_BOX(&map, -4, tile); // expect: invalid_object
        asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
    }
}

int main()
{
    Device<int> array(128);
    fill<<<1, 64>>>(row_map(array));
    return done(cudaErrorIllegalAddress);
}
