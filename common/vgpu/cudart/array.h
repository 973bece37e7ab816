/** @file
 * CUDA arrays and mipmaps inside the shim: created by array.c and mipmap.c, bound by
 * texture_object.c.
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
    bool is_level; /**< of a mipmap, with which it is freed */
};

/** Target of a cudaMipmappedArray_t. */
struct cudaMipmappedArray {
    struct cudaMipmappedArray *next;
    unsigned levels;
    struct cudaArray level[]; /**< their texels are in one allocation, see vg_texture_level() */
};

/** @return the array behind a handle, or NULL. */
struct cudaArray *rt_array(const struct cudaArray *handle);
/** Creates an array whose texels are not allocated yet, but checks its arguments. */
cudaError_t rt_array_describe(struct cudaArray *to, const struct cudaChannelFormatDesc *desc,
                              struct cudaExtent e, unsigned flags, const char *api);
/** Makes arrays valid handles, or invalid. */
void rt_arrays_add(struct cudaArray *first, size_t n);
void rt_arrays_remove(struct cudaArray *first, size_t n);
size_t rt_texel_bytes(const struct cudaChannelFormatDesc *desc);
/** @return the mipmap behind a handle, or NULL. */
struct cudaMipmappedArray *rt_mipmap(const struct cudaMipmappedArray *handle);
/** @return whether arrays can have texels of this kind. */
bool rt_is_texel(const struct cudaChannelFormatDesc *desc);

/** A 3-D copy: a copy of rows for each slice. */
struct copy_3d {
    struct copy_side {
        char *at;
        size_t pitch, slice; /**< in bytes */
    } to, from;
    struct cudaExtent extent; /**< in bytes, rows and slices */
};
/** Checks and converts the parameters of a copy. */
cudaError_t rt_copy_3d_of(struct copy_3d *c, const struct cudaMemcpy3DParms *p);
