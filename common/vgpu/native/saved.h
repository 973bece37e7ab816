/** @file
 * The registers that are live where a unit is left, as it keeps them: scalars, lanes, or both. They are
 * written down side by side, and go to the frame from there, unless a unit goes on from the same place.
 */
#ifndef CONVLAB_VGPU_NATIVE_SAVED_H
#define CONVLAB_VGPU_NATIVE_SAVED_H

#include "vgpu/exec/translator.h"

/** A register: where its parts are saved. */
struct saved_register {
    uint32_t offset; /**< in the frame */
    uint32_t base, lanes;
    uint8_t bits; /**< 1, 32, 64 as struct held */
    bool has_base, has_lanes;
};

/** All of a place in the code. */
struct native_saved {
    const struct ir_insn *at; /**< which instruction is next */
    struct native_saved *next;
    uint32_t count;
    struct saved_register of[];
};

/** Writes what w->saved has, as w->saved_as says, to the frame, for the lanes of the running fragment. */
void saved_settle(struct vg_warp *w);
/** The same, as @p as says; called by native code. */
void saved_settle_as(struct vg_warp *w, const struct native_saved *as);

#endif
