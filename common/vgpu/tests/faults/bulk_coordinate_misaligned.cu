// nvcc: -std=c++17 -arch=compute_90
// The first coordinate of a box is not a multiple of 16 bytes.
#include "vgpu/tests/bulk.cuh"
#include "vgpu/tests/faults.cuh"

#include <cuda.h>
#include <cudaTypedefs.h>

__global__ void copy(const __grid_constant__ CUtensorMap map, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        init(&full, 1);
        expect(&full, 256);
        LOAD_BOX(tile, &map, 2, &full); // expect: misaligned
    }
    __syncthreads();
    WAIT(&full, 0);
    out[threadIdx.x] = tile[threadIdx.x];
}

int main()
{
    cudaDriverEntryPointQueryResult found;
    PFN_cuTensorMapEncodeTiled_v12000 encode;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000,
                                           cudaEnableDefault, &found));
    Device<int> in(128), out(64);
    in.zero();
    CUtensorMap map;
    const cuuint64_t size = 128, stride = 0;
    const cuuint32_t box = 64, step = 1;
    EXPECT(encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 1, in.p, &size, &stride, &box, &step,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                  CU_TENSOR_MAP_L2_PROMOTION_NONE,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
    copy<<<1, 64>>>(map, out);
    return done(cudaErrorMisalignedAddress);
}
