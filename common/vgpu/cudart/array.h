/** @file
 * CUDA arrays inside the shim: what array.c makes and texture_object.c binds to.
 */
#pragma once

#include "vgpu/cudart/shim.h"

/** Target of a cudaArray_t. */
struct cudaArray {
    struct cudaArray *next;
    uint64_t address; /**< of the texels on the device */
    struct cudaChannelFormatDesc desc;
    struct cudaExtent extent; /**< as requested: 0 where there is no such dimension */
    unsigned flags;
    size_t row_bytes, rows, slices;
};

/** @return the array behind a handle, NULL if there is none. */
struct cudaArray *rt_array(const struct cudaArray *handle);
size_t rt_texel_bytes(const struct cudaChannelFormatDesc *desc);
/** Whether texels of this kind exist. */
bool rt_is_texel(const struct cudaChannelFormatDesc *desc);
