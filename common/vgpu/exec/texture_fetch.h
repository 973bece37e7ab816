/** @file
 * Texture and surface accesses of one lane. The rules are those of the CUDA C++ Programming Guide,
 * "Texture Fetching": filter weights have 8 bits of fraction, as in hardware.
 */
#pragma once

#include "vgpu/api/texture.h"
#include "vgpu/exec/vg_exec.h"

/** Where a lane reads. */
struct texture_place {
    float f[3]; /**< coordinates of a tex instruction with floats */
    int32_t i[3];
    int32_t layer;
    bool integers, is_cube; /**< is_cube: the coordinates are a direction */
    int dimensions;
};

/** The object behind a handle. Start with it zeroed; lanes with the same handle find it there. */
struct texture_view {
    uint64_t handle;
    struct vg_texture t;
    const char *texels; /**< all of them exist and were written; NULL: each is looked for */
};

/** Where a lane of a texture or surface instruction reads. */
struct texture_place texture_coordinates(const struct vg_warp *w, const struct ir_insn *in,
                                         int lane);
/** Copies the object behind a handle, which may change under us. @return false after a finding. */
bool texture_find(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t handle,
                  bool is_surface, struct texture_view *to);
/** Fetches a texel, filtered if the texture is. @param to  x, y, z, w as the instruction's
 * type (floats or integers). @param wanted  how many of them are. @param first  address of the first texel
 * that was read, 0 for none. @return false after a finding. */
bool texture_fetch(struct vg_warp *w, const struct ir_insn *in, int lane,
                   const struct texture_view *view, const struct texture_place *at, int wanted,
                   uint32_t to[4], uint64_t *first);
/** Component @p which of the four texels that a filter would read, in the order of tex2Dgather. */
bool texture_gather(struct vg_warp *w, const struct ir_insn *in, int lane,
                    const struct texture_view *view, const struct texture_place *at, int which,
                    uint32_t to[4], uint64_t *first);
/** Address of a surface's bytes, 0 if outside and the mode drops that; false after a finding. */
bool surface_address(struct vg_warp *w, const struct ir_insn *in, int lane,
                     const struct vg_texture *t, const int32_t at[3], uint32_t bytes,
                     uint64_t *address);
/** Host memory of @p bytes inside one live allocation; NULL after a finding. */
char *texture_memory(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                     uint32_t bytes, bool is_write);
