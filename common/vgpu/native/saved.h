/** @file
 * The homes of registers that are live at a place in native code: scalars, lanes, or both, in the
 * warp's room. Where code is left or entered, they move between their homes and the frame.
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

/** The head of each object that code refers to: a list, which lives as long as the code. */
struct native_kept {
    struct native_kept *next;
};

/** All registers of a place in the code. */
struct native_saved {
    struct native_kept kept;
    uint32_t count;
    struct saved_register of[];
};

/** Writes w->saved to the frame by the plan w->saved_as, for the lanes of the running fragment;
 * does nothing if the plan is NULL. */
void saved_settle(struct vg_warp *w);
/** The same by the plan @p as, from @p room, which is w->saved; called by native code. */
void saved_settle_as(struct vg_warp *w, const struct native_saved *as, const char *room);
/** Fills the homes from the frame. @return whether all registers that @p as holds as uniform are
 * uniform in the fragment's lanes; if not, the room is invalid. */
bool saved_enter(struct vg_warp *w, const struct native_saved *as, char *room);
