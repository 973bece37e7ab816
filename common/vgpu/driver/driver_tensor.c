/* Tensor maps. The comment at cuTensorMapEncodeTiled() in cuda.h lists the arguments that are
 * rejected. */
#include "vgpu/driver/driver.h"

#include "vgpu/api/tensor_map.h"

#include <string.h>

enum { MAP_ALIGNMENT = 64, UNIT = 16, BOX_MOST = 256, STEP_MOST = 8 };

/* The bytes of an element; 0: the type is not supported. */
static uint32_t element_bytes(CUtensorMapDataType type)
{
    static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return (size_t)type < sizeof bytes ? bytes[type] : 0;
}

static uint32_t swizzle_bytes(CUtensorMapSwizzle swizzle)
{
    return swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : 16u << swizzle;
}

static bool take_dimension(struct tensor_map *m, int i, cuuint64_t size, cuuint32_t box,
                           cuuint32_t step)
{
    if (!size || size > UINT64_C(1) << 32 || !box || box > BOX_MOST || !step || step > STEP_MOST)
        return false;
    m->last[i] = (uint32_t)(size - 1);
    m->step[i] = (uint8_t)(i ? step : 1); /* elements of the first dimension are always adjacent */
    m->box[i] = (uint16_t)((box + m->step[i] - 1) / m->step[i]);
    return true;
}

static bool take_stride(struct tensor_map *m, int i, cuuint64_t bytes)
{
    m->stride[i] = bytes;
    return bytes && bytes % UNIT == 0 && bytes < UINT64_C(1) << 40;
}

static cudaError_t not_supported(const char *what)
{
    static bool said;
    rt_say_once(&said, "%s", what);
    return cudaErrorNotSupported;
}

static cudaError_t encode(CUtensorMap *to, CUtensorMapDataType type, cuuint32_t rank, void *address,
                          const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box,
                          const cuuint32_t *steps, CUtensorMapInterleave interleave,
                          CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill fill)
{
    struct tensor_map m = {.magic = TENSOR_MAP_MAGIC,
                           .dimensions = (uint8_t)rank,
                           .type = (uint8_t)type,
                           .element_bytes = (uint8_t)element_bytes(type),
                           .swizzle = (uint8_t)swizzle_bytes(swizzle),
                           .address = (uint64_t)(uintptr_t)address,
                           .fills_nan = fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA};
    if (!to || (uintptr_t)to % MAP_ALIGNMENT || !rank || rank > TENSOR_MAP_DIMENSIONS || !sizes ||
        !box || !steps || (rank > 1 && !strides) || !address || m.address % UNIT)
        return cudaErrorInvalidValue;
    if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || swizzle > CU_TENSOR_MAP_SWIZZLE_128B ||
        !m.element_bytes)
        return not_supported(
            "tensor maps with interleaved layouts, elements of 4 or 6 bits or swizzles of Blackwell are not supported");
    for (cuuint32_t i = 0; i < rank; i++)
        if (!take_dimension(&m, (int)i, sizes[i], box[i], steps[i]) ||
            (i && !take_stride(&m, (int)i - 1, strides[i - 1])))
            return cudaErrorInvalidValue;
    const uint32_t row = m.box[0] * (uint32_t)m.element_bytes;
    if (row % UNIT || (m.swizzle && row > m.swizzle))
        return cudaErrorInvalidValue;
    memset(to, 0, sizeof *to);
    memcpy(to, &m, sizeof m);
    return cudaSuccess;
}

static cudaError_t replace(CUtensorMap *map, void *address)
{
    struct tensor_map m;
    if (!map || (uintptr_t)address % UNIT)
        return cudaErrorInvalidValue;
    memcpy(&m, map, sizeof m);
    if (m.magic != TENSOR_MAP_MAGIC)
        return cudaErrorInvalidValue;
    m.address = (uint64_t)(uintptr_t)address;
    memcpy(map, &m, sizeof m);
    return cudaSuccess;
}

DRIVER_NEEDS(DRIVER_INITIALIZED, cuTensorMapEncodeTiled,
             (CUtensorMap * to, CUtensorMapDataType type, cuuint32_t rank, void *address,
              const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box,
              const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
              CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill),
             encode(to, type, rank, address, sizes, strides, box, steps, interleave, swizzle, fill))
DRIVER_NEEDS(
    DRIVER_INITIALIZED, cuTensorMapEncodeIm2col,
    (CUtensorMap * to, CUtensorMapDataType type, cuuint32_t rank, void *address,
     const cuuint64_t *sizes, const cuuint64_t *strides, const int *lower, const int *upper,
     cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *steps,
     CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
     CUtensorMapFloatOOBfill fill),
    not_supported("tensor maps in im2col mode (cuTensorMapEncodeIm2col) are not supported"))
DRIVER_NEEDS(DRIVER_INITIALIZED, cuTensorMapReplaceAddress, (CUtensorMap * map, void *address),
             replace(map, address))
