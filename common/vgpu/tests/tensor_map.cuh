// Shared by the programs with tensor maps: the driver's function that encodes a map, and the map of
// a row, an array of 128 numbers in boxes of 64.
#pragma once

#include "vgpu/tests/check.cuh"

#include <cuda.h>
#include <cudaTypedefs.h>

static inline PFN_cuTensorMapEncodeTiled_v12000 tensor_map_encoder()
{
    cudaDriverEntryPointQueryResult found;
    PFN_cuTensorMapEncodeTiled_v12000 encode;
#if CUDART_VERSION >= 12050
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000,
                                           cudaEnableDefault, &found));
#else
    CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", (void **)&encode, cudaEnableDefault,
                                  &found));
#endif
    EXPECT(found == cudaDriverEntryPointSuccess && encode);
    return encode;
}

static inline CUtensorMap row_map(int *numbers)
{
    CUtensorMap map;
    const cuuint64_t size = 128, stride = 0;
    const cuuint32_t box = 64, step = 1;
    EXPECT(tensor_map_encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 1, numbers, &size, &stride,
                                &box, &step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
    return map;
}
