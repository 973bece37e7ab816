/** @file
 * The homes of registers that are live at an instruction in native code: scalars, lanes, or both,
 * in the warp's buffer w->saved, called the room. Where code is left or entered, registers move
 * between their homes and the frame.
 */
#pragma once

#include "vgpu/exec/translator.h"

/** A register, and the homes of its parts. */
struct saved_register {
    uint32_t offset; /**< in the frame */
    uint32_t base, lanes;
    uint8_t bits; /**< 1, 32, 64, see struct held */
    bool has_base, has_lanes, uniform;
    bool any_nan; /**< see struct held */
};

/** The head of each object to which native code refers. The objects are a list that lives as long
 * as the code. */
struct native_kept {
    struct native_kept *next;
};

/** All registers that are live at an instruction. */
struct native_saved {
    struct native_kept kept;
    uint32_t count;
    struct saved_register of[];
};

/** Writes w->saved to the frame by the plan w->saved_as, for the lanes of the running fragment;
 * does nothing if the plan is NULL. */
void saved_settle(struct vg_warp *w);
/** As above, by plan @p as, from @p room (w->saved). Native code calls it. */
void saved_settle_as(struct vg_warp *w, const struct native_saved *as, const char *room);
/** Fills the homes from the frame. @return whether all registers that @p as holds as uniform are
 * uniform in the fragment's lanes. If not, the contents of the room are invalid. */
bool saved_enter(struct vg_warp *w, const struct native_saved *as, char *room);
