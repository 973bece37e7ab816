/** @file
 * CUDA arrays inside the shim: created by array.c, bound by texture_object.c.
 */
#pragma once

#include "vgpu/cudart/shim.h"

/** Target of a cudaArray_t. */
struct cudaArray {
    struct cudaArray *next;
    uint64_t address; /**< device address of the texels */
    struct cudaChannelFormatDesc desc;
    struct cudaExtent extent; /**< as requested: 0 for missing dimensions */
    unsigned flags;
    size_t row_bytes, rows, slices;
};

/** @return the array behind a handle, or NULL. */
struct cudaArray *rt_array(const struct cudaArray *handle);
size_t rt_texel_bytes(const struct cudaChannelFormatDesc *desc);
/** @return whether arrays can have texels of this kind. */
bool rt_is_texel(const struct cudaChannelFormatDesc *desc);
