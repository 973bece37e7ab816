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
};
