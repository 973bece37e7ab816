/** @file
 * Texture and surface accesses of one lane; texture_warp.inc has most fetches of a whole warp. The
 * rules (texture_rules.h) are those of the CUDA C++ Programming Guide, "Texture Fetching": filter
 * weights have 8 bits of fraction, as in hardware.
 */
#pragma once

#include "vgpu/api/texture.h"

#include <stdbool.h>

struct ir_insn;
struct vg_warp;

/** The coordinates of a lane's access. */
struct texture_place {
    float f[3]; /**< coordinates of a tex instruction with floats */
    int32_t i[3];
    int32_t layer;
    bool integers, is_cube; /**< is_cube: the coordinates are a direction in a cube map */
    int dimensions;
};

/** The object that a handle names. Zero this before the first lane; lanes with the same handle
 * reuse the object. */
struct texture_view {
    uint64_t handle;
    struct vg_texture t;
    const char *texels; /**< all texels exist and are written; NULL: each fetch checks */
};

/** @return the coordinates of a lane of a texture or surface instruction. */
struct texture_place texture_coordinates(const struct vg_warp *w, const struct ir_insn *in,
                                         int lane);
/** Copies the object that a handle names, since the program may change it. @return false after a
 * finding. */
bool texture_find(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t handle,
                  bool is_surface, struct texture_view *to);
/** Fetches a texel, with the texture's filter; from the levels that the instruction selects if the
 * texture has several. @param to  x, y, z, w in the instruction's type
 * (floats or integers). @param wanted  number of components. @param first  address of the first
 * texel that was read, 0 for none. @return false after a finding. */
bool texture_fetch(struct vg_warp *w, const struct ir_insn *in, int lane,
                   const struct texture_view *view, const struct texture_place *at, int wanted,
                   uint32_t to[4], uint64_t *first);
/** Fetches component @p which of the four texels around a point, in the order of tex2Dgather. */
bool texture_gather(struct vg_warp *w, const struct ir_insn *in, int lane,
                    const struct texture_view *view, const struct texture_place *at, int which,
                    uint32_t to[4], uint64_t *first);
/** Finds the address of a surface's bytes; 0 if it is outside and the mode drops the access.
 * @return false after a finding. */
bool surface_address(struct vg_warp *w, const struct ir_insn *in, int lane,
                     const struct vg_texture *t, const int32_t at[3], uint32_t bytes,
                     uint64_t *address);
/** @return host memory of @p bytes inside one live allocation; NULL after a finding. */
char *texture_memory(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                     uint32_t bytes, bool is_write);
