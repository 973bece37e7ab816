// nvcc: -std=c++17 -arch=compute_90
// A box is stored to a place before the array: only the end of an array cuts a box.
#include "vgpu/tests/bulk.cuh"
#include "vgpu/tests/faults.cuh"

#include <cuda.h>
#include <cudaTypedefs.h>

__global__ void fill(const __grid_constant__ CUtensorMap map)
{
    __shared__ __align__(128) int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE_BOX(&map, -4, tile); // expect: invalid_address
        asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
    }
}

int main()
{
    cudaDriverEntryPointQueryResult found;
    PFN_cuTensorMapEncodeTiled_v12000 encode;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000,
                                           cudaEnableDefault, &found));
    Device<int> array(128);
    CUtensorMap map;
    const cuuint64_t size = 128, stride = 0;
    const cuuint32_t box = 64, step = 1;
    EXPECT(encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 1, array.p, &size, &stride, &box, &step,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                  CU_TENSOR_MAP_L2_PROMOTION_NONE,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
    fill<<<1, 64>>>(map);
    return done(cudaErrorIllegalAddress);
}
