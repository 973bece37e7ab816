/** @file
 * A texture or surface object, which the CUDA runtime shim writes to device memory and the executor
 * reads. The handle that a program passes to its kernels is the address of this struct.
 */
#pragma once

#include <stdint.h>

#define VG_TEXTURE_MAGIC UINT64_C(0x7865547570675665)

enum vg_texel_format { VG_TEXEL_SIGNED, VG_TEXEL_UNSIGNED, VG_TEXEL_FLOAT };
/** In the order of cudaTextureAddressMode. */
enum vg_address_mode { VG_WRAP, VG_CLAMP, VG_MIRROR, VG_BORDER };

struct vg_texture {
    uint64_t magic;
    uint64_t address, row_bytes, slice_bytes; /**< of the texels, a row, a slice (or layer) */
    uint32_t width, height, depth;            /**< in texels; at least 1 each */
    uint8_t channels, channel_bytes, format;  /**< format: enum vg_texel_format */
    uint8_t normalised_read; /**< integers are read as floats in [0, 1] or [-1, 1] */
    uint8_t linear_filter, normalised_coordinates;
    uint8_t address_mode[3];
    uint8_t is_buffer; /**< plain memory, read by index; an index out of range reads 0 */
    uint8_t is_surface;
    float border[4];
    uint8_t levels;        /**< of a mipmap, whose other fields describe level 0; 0: no mipmap */
    uint8_t shrinks_depth; /**< each level has half the depth of the level before, too */
    uint8_t linear_levels; /**< values are interpolated between two levels */
    int32_t level_bias, level_min, level_max; /**< in VG_LEVEL_STEPS */
};

/** Steps between two levels of a mipmap, as measured on an H200. */
enum { VG_LEVEL_STEPS = 256, VG_LEVELS_MAX = 32, VG_LEVEL_LIMIT = 1 << 20 };

/** @return one level of a mipmap. The levels follow each other without gaps. */
static inline struct vg_texture vg_texture_level(const struct vg_texture *mipmap, unsigned level)
{
    struct vg_texture t = *mipmap;
    for (unsigned i = 0; i < level && i < VG_LEVELS_MAX; i++) {
        t.address += t.slice_bytes * t.depth;
        t.width = t.width > 1 ? t.width / 2 : 1;
        t.height = t.height > 1 ? t.height / 2 : 1;
        t.depth = t.shrinks_depth && t.depth > 1 ? t.depth / 2 : t.depth;
        t.row_bytes = (uint64_t)t.width * t.channels * t.channel_bytes;
        t.slice_bytes = t.row_bytes * t.height;
    }
    t.levels = 0;
    return t;
}
